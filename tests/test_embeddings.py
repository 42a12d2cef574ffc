"""Cosines, neighbours and principal components against plain loops and numpy."""

import numpy as np
import pytest
import torch

from gptlab.embeddings import cosine_similarity, nearest_rows, principal_components
from tests.references import naive_vectors


@pytest.fixture
def rows():
    return torch.randn(20, 6, generator=torch.Generator().manual_seed(0))


def test_cosines_are_those_of_plain_loops(rows):
    one, other = rows[:4], 3 * rows[4:9]
    expected = [[naive_vectors.cosine(x, y) for y in other.tolist()] for x in one.tolist()]
    torch.testing.assert_close(cosine_similarity(one, other), torch.tensor(expected))


def test_cosines_are_those_of_numpy(rows):
    x = rows.double().numpy()
    lengths = np.linalg.norm(x, axis=1)
    np.testing.assert_allclose(cosine_similarity(rows.double(), rows.double()), x @ x.T / np.outer(lengths, lengths))


def test_length_does_not_matter_and_sign_does():
    x = torch.tensor([[3.0, 4.0]])
    assert cosine_similarity(x, torch.tensor([[30.0, 40.0], [-3.0, -4.0], [-4.0, 3.0]])).tolist() == [[1, -1, 0]]


@pytest.mark.parametrize("number", [0.0, float("nan")])
def test_a_row_without_a_direction_is_refused_by_its_place(rows, number):
    rows[3] = number
    with pytest.raises(ValueError, match=r"length of other\[3\]"):
        cosine_similarity(rows[:2], rows)


def test_the_nearest_rows_are_those_of_plain_loops_and_never_the_row_itself(rows):
    for row in range(len(rows)):
        places, similarities = nearest_rows(rows, row, 5)
        assert places.tolist() == naive_vectors.nearest(rows.tolist(), row, 5)
        expected = [naive_vectors.cosine(rows[row].tolist(), rows[place].tolist()) for place in places]
        torch.testing.assert_close(similarities, torch.tensor(expected))


def test_a_twin_of_the_row_is_its_neighbour(rows):
    rows[7] = rows[2]
    assert nearest_rows(rows, 2, 1)[0].tolist() == [7]
    assert sorted(nearest_rows(rows, 2, len(rows) - 1)[0].tolist()) == [row for row in range(len(rows)) if row != 2]


@pytest.mark.parametrize(
    ("row", "n", "named"),
    [(-1, 1, "row is -1"), (20, 1, "row is 20"), (0, 0, "n is 0"), (0, 20, "n is 20, but must be from 1 to 19")],
)
def test_neighbours_that_are_not_there_are_refused(rows, row, n, named):
    with pytest.raises(ValueError, match=named):
        nearest_rows(rows, row, n)


def test_principal_components_are_numpys(rows):
    """Up to the sign, which numpy leaves to chance."""
    found = principal_components(rows, 3)
    x = rows.double().numpy()
    left, widths, directions = np.linalg.svd(x - x.mean(0), full_matrices=False)
    np.testing.assert_allclose(found.mean, x.mean(0))
    np.testing.assert_allclose(found.directions.abs(), np.abs(directions[:3]))
    np.testing.assert_allclose(found.coordinates.abs(), np.abs((left * widths)[:, :3]))
    np.testing.assert_allclose(found.shares, (widths**2 / (widths**2).sum())[:3])


def test_principal_components_are_the_axes_of_the_covariance(rows):
    found = principal_components(rows, 6)
    directions, variances = naive_vectors.principal_axes(rows.tolist())
    np.testing.assert_allclose(found.directions.abs(), np.abs(directions), atol=1e-9)
    np.testing.assert_allclose(found.shares, variances / variances.sum(), atol=1e-9)


def test_all_components_together_give_the_points_back(rows):
    found = principal_components(rows, 6)
    torch.testing.assert_close(found.coordinates @ found.directions + found.mean, rows.double())
    torch.testing.assert_close(found.directions @ found.directions.T, torch.eye(6, dtype=torch.float64))
    assert found.shares.sum().item() == pytest.approx(1)


def test_the_largest_entry_of_a_direction_is_positive(rows):
    for points in (rows, -rows):
        directions = principal_components(points, 6).directions
        assert (directions.gather(1, directions.abs().argmax(1, keepdim=True)) > 0).all()
    torch.testing.assert_close(principal_components(-rows, 6).directions, directions)


def test_a_cloud_along_a_line_has_one_component():
    line = torch.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    found = principal_components(line, 2)
    torch.testing.assert_close(found.directions[0], torch.tensor([0.6, 0.8], dtype=torch.float64))
    torch.testing.assert_close(found.coordinates[:, 0], torch.tensor([-5.0, 0.0, 5.0], dtype=torch.float64))
    torch.testing.assert_close(found.shares, torch.tensor([1.0, 0.0], dtype=torch.float64))


@pytest.mark.parametrize(
    ("points", "n", "named"),
    [
        (torch.ones(1, 4), 1, "two points"),
        (torch.ones(5, 4), 1, "all alike"),
        (torch.eye(3), 3, "n is 3, but must be from 1 to 2"),
        (torch.eye(3), 0, "n is 0"),
    ],
)
def test_components_that_cannot_be_are_refused(points, n, named):
    with pytest.raises(ValueError, match=named):
        principal_components(points, n)
