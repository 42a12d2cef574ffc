"""The table of all texts that nobody can fill, as the texts grow longer."""

from collections.abc import Mapping

import ipywidgets as widgets
import plotly.graph_objects as go

from gptlab import figures
from gptlab.apps._frame import FigureApp, control
from gptlab.figures.sizes import LONGEST


class TableSize(FigureApp):
    """A bar for each vocabulary, which a slider for the length of the texts moves."""

    def __init__(self, vocabularies: Mapping[str, int], length: int) -> None:
        self._vocabularies = dict(vocabularies)
        self.length = control(widgets.IntSlider, "words in the text (m)", value=length, min=1, max=LONGEST)
        super().__init__(self.length)
        self.length.observe(self.refresh, "value")

    def draw(self) -> go.Figure:
        return figures.table_sizes(self._vocabularies, length=self.length.value)

    def still(self) -> go.Figure:
        lengths = range(1, LONGEST + 1)
        return figures.table_sizes(self._vocabularies, length=self.length.value, lengths=lengths)


def table_size(vocabularies: Mapping[str, int], length: int = 3) -> FigureApp:
    """The entries |V|^m of a table of all texts, with a slider for m; vocabularies: name → |V|."""
    return TableSize(vocabularies, length)
