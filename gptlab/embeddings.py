"""What the rows of an embedding matrix know: how near two of them are, which are nearest, along what they vary most.

Axes: N rows (one a token), M other rows, d model width, n components.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from gptlab._refuse import refuse


def cosine_similarity(one: Float[Tensor, "N d"], other: Float[Tensor, "M d"]) -> Float[Tensor, "N M"]:
    """Cosine of the angle between each row of one matrix and each row of another: x·y / (|x| |y|), from -1 to 1.

    ValueError, naming it, for a row that has no direction: of zeros, or with a NaN.
    """
    return _directions("one", one) @ _directions("other", other).T


def nearest_rows(table: Float[Tensor, "N d"], row: int, n: int) -> tuple[Int64[Tensor, " n"], Float[Tensor, " n"]]:
    """The n rows with the largest cosine to one of them, itself left out, and these cosines; the nearest first.

    ValueError, naming it, for a row that is not there and for more neighbours than there are.
    """
    if not 0 <= row < len(table):
        raise refuse("row", row, f"a row of the table, from 0 to {len(table) - 1}")
    if not 1 <= n < len(table):
        raise refuse("n", n, f"from 1 to {len(table) - 1}, the number of other rows")
    similarities = cosine_similarity(table[row : row + 1], table)[0]
    similarities[row] = -torch.inf
    best = similarities.topk(n)
    return best.indices, best.values


class PrincipalComponents(NamedTuple):
    """A cloud of points seen along the directions in which it is widest.

    ``mean`` (d,) is the cloud's middle, ``directions`` (n,d) are of length 1 and at right angles, ``coordinates`` (N,n)
    are the points' places along them, and ``shares`` (n,) say how much of the variance each direction holds.
    """

    mean: Float64[Tensor, " d"]
    directions: Float64[Tensor, "n d"]
    coordinates: Float64[Tensor, "N n"]
    shares: Float64[Tensor, " n"]


def principal_components(points: Float[Tensor, "N d"], n: int) -> PrincipalComponents:
    """The n directions along which points vary most, the widest first, by singular value decomposition in float64.

    Where a direction points is a matter of choice: here its largest entry is positive, so that two computers agree.
    ValueError, naming it, for fewer than two points, for points all alike and for more components than there can be.
    """
    most = min(len(points) - 1, points.shape[1])
    if most < 1:
        raise refuse("the shape of points", tuple(points.shape), "(points, width), with two points or more")
    if not 1 <= n <= most:
        raise refuse("n", n, f"from 1 to {most}, of {len(points)} points with {points.shape[1]} numbers each")
    points = points.double()
    mean = points.mean(0)
    _, widths, directions = torch.linalg.svd(points - mean, full_matrices=False)
    if not widths[0] > 0:
        raise refuse("points", "all alike", "points that differ")
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    directions = (directions * largest.sign())[:n]
    shares = widths.square() / widths.square().sum()
    return PrincipalComponents(mean, directions, (points - mean) @ directions.T, shares[:n])


def _directions(name: str, rows: Float[Tensor, "N d"]) -> Float[Tensor, "N d"]:
    """The rows at length 1."""
    lengths = rows.norm(dim=1, keepdim=True)
    without = (~(lengths > 0)).nonzero()
    if len(without):
        place = without[0, 0].item()
        raise refuse(f"the length of {name}[{place}]", lengths[place].item(), "above 0: such a row has no direction")
    return rows / lengths
