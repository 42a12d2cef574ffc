"""The smallest example of each figure and app: run as tests, and looked at in the gallery (`scripts/gallery.py`).

Each module here has a function `example()` that gives the figure or the app.
"""

from importlib import import_module
from pkgutil import iter_modules

NAMES = [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]


def example(name: str):
    """Make the example of that name."""
    return import_module(f"{__name__}.{name}").example()
