"""A shipped model on its way: as it was before training, at some steps in between, and at the end.

A snapshot is a checkpoint that comes with the package under the name of its model and its step, "small-world@500".
"""

from gptlab.checkpoint import load, shipped
from gptlab.model import GPT
from gptlab.record import recorded_curve


def load_snapshots(name: str = "small-world") -> dict[int, GPT]:
    """The model at each step that was kept, the earliest first; the last step gives the model as it is shipped.

    ValueError for a name that does not come with the package.
    """
    kept = {int(one.removeprefix(f"{name}@")): load(one)[0] for one in shipped() if one.startswith(f"{name}@")}
    trained, _ = load(name)
    return dict(sorted((kept | {int(recorded_curve(name).steps[-1]): trained}).items()))
