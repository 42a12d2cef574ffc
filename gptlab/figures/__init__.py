"""Figures: pure functions of arrays and token labels to Plotly figures.

Each carries in ``figure.layout.meta["description"]`` what is to be seen, in one line of words.
"""

from gptlab.figures._canvas import lecture_mode
from gptlab.figures.ablations import ablation_bars
from gptlab.figures.arcs import attention_arcs
from gptlab.figures.betas import preference_runs
from gptlab.figures.charts import bar_chart, line_chart
from gptlab.figures.contexts import context_bars
from gptlab.figures.counts import parameter_bars
from gptlab.figures.curves import loss_curve
from gptlab.figures.cuts import sampling_cut
from gptlab.figures.fields import receptive_field
from gptlab.figures.films import training_film
from gptlab.figures.gaps import gap_bars
from gptlab.figures.grids import head_grid
from gptlab.figures.heatmaps import attention_heatmap
from gptlab.figures.judged import judged_answers
from gptlab.figures.lens import lens_grid
from gptlab.figures.longtexts import long_attention
from gptlab.figures.maps import component_map
from gptlab.figures.matrices import matrix_heatmap
from gptlab.figures.merging import merge_steps
from gptlab.figures.motions import moving_points
from gptlab.figures.moving import moving_lines
from gptlab.figures.neighbours import neighbour_bars
from gptlab.figures.pages import save_page
from gptlab.figures.pictures import small_pictures
from gptlab.figures.probabilities import next_token_bars
from gptlab.figures.shifts import shift_by_one
from gptlab.figures.sizes import table_sizes
from gptlab.figures.sliding import sliding_window
from gptlab.figures.steps import attention_steps
from gptlab.figures.surfaces import descent_paths
from gptlab.figures.surprises import Scored, surprise_bars
from gptlab.figures.texts import generated_text
from gptlab.figures.tokens import token_strip, token_strips
from gptlab.figures.trees import beam_tree

__all__ = [
    "Scored",
    "ablation_bars",
    "attention_arcs",
    "attention_heatmap",
    "attention_steps",
    "bar_chart",
    "beam_tree",
    "component_map",
    "context_bars",
    "descent_paths",
    "gap_bars",
    "generated_text",
    "head_grid",
    "judged_answers",
    "lecture_mode",
    "lens_grid",
    "line_chart",
    "long_attention",
    "loss_curve",
    "matrix_heatmap",
    "merge_steps",
    "moving_lines",
    "moving_points",
    "neighbour_bars",
    "next_token_bars",
    "parameter_bars",
    "preference_runs",
    "receptive_field",
    "sampling_cut",
    "save_page",
    "shift_by_one",
    "sliding_window",
    "small_pictures",
    "surprise_bars",
    "table_sizes",
    "token_strip",
    "token_strips",
    "training_film",
]
