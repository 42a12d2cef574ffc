"""Figures: pure functions of arrays and token labels to Plotly figures.

Each carries in ``figure.layout.meta["description"]`` what is to be seen, in one line of words.
"""

from gptlab.figures._canvas import lecture_mode
from gptlab.figures.charts import bar_chart, line_chart
from gptlab.figures.curves import loss_curve
from gptlab.figures.heatmaps import attention_heatmap
from gptlab.figures.maps import component_map
from gptlab.figures.matrices import matrix_heatmap
from gptlab.figures.neighbours import neighbour_bars
from gptlab.figures.probabilities import next_token_bars
from gptlab.figures.texts import generated_text
from gptlab.figures.tokens import token_strip

__all__ = [
    "attention_heatmap",
    "bar_chart",
    "component_map",
    "generated_text",
    "lecture_mode",
    "line_chart",
    "loss_curve",
    "matrix_heatmap",
    "neighbour_bars",
    "next_token_bars",
    "token_strip",
]
