"""Gradient descent in a valley."""

from gptlab import apps


def example():
    def valley(theta):
        return (theta[..., 0] ** 2 + 20 * theta[..., 1] ** 2) / 2

    def gradient_descent(theta, gradient, memory, eta):
        return theta - eta * gradient

    return apps.descent(valley, {"gradient descent": gradient_descent}, (1.8, 0.8), extent=((-2, 2), (-1, 1)))
