"""A window over a picture and what a stack of layers sees, by plain loops."""


def windows(picture, size, stride, before, after, outside):
    """Each window of size × size in the order of reading, as rows of numbers, and how many stand in a row."""
    n_rows, n_columns = len(picture), len(picture[0])
    found, tops = [], range(-before, n_rows + after - size + 1, stride)
    lefts = range(-before, n_columns + after - size + 1, stride)
    for top in tops:
        for left in lefts:
            window = []
            for row in range(top, top + size):
                inside = 0 <= row < n_rows
                window.append(
                    [
                        picture[row][column] if inside and 0 <= column < n_columns else outside
                        for column in range(left, left + size)
                    ]
                )
            found.append(window)
    return found, len(lefts)


def products(window, kernel):
    return [[a * b for a, b in zip(row, weights, strict=True)] for row, weights in zip(window, kernel, strict=True)]


def inputs_seen(layers):
    """The inputs that unit 0 on top depends on, for layers given as (kernel size, stride)."""
    seen = {0}
    for size, stride in reversed(layers):
        seen = {unit * stride + k for unit in seen for k in range(size)}
    return seen
