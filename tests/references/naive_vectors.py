"""Cosines and principal components as plain loops over Python's own numbers."""

import math

import numpy as np


def cosine(x, y):
    inner = sum(a * b for a, b in zip(x, y, strict=True))
    return inner / math.sqrt(sum(a * a for a in x)) / math.sqrt(sum(b * b for b in y))


def nearest(table, row, n):
    others = [place for place in range(len(table)) if place != row]
    return sorted(others, key=lambda place: -cosine(table[row], table[place]))[:n]


def principal_axes(points):
    """Directions (as rows) and their variances, widest first: eigenvectors of the covariance."""
    points = np.asarray(points, np.float64)
    n_points, width = points.shape
    mean = [sum(point[i] for point in points) / n_points for i in range(width)]
    covariance = np.zeros((width, width))
    for point in points:
        for i in range(width):
            for j in range(width):
                covariance[i, j] += (point[i] - mean[i]) * (point[j] - mean[j]) / n_points
    variances, directions = np.linalg.eigh(covariance)
    return directions.T[::-1], variances[::-1]
