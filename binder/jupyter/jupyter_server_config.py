"""Jupyter's server, as the lab and Binder start it: notebooks are saved without live widgets."""

import sys
import warnings
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from saved_notebook import before_saving

# The server applies its configuration twice and then warns that this hook replaces itself.
warnings.filterwarnings("ignore", "Overriding existing pre_save_hook")

c = get_config()  # noqa: F821 (Jupyter provides it)
c.ContentsManager.pre_save_hook = before_saving
