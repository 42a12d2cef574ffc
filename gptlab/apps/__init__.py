"""Apps: figures with their controls, for any model and tokenizer.

Each is a live widget and, on a page without a kernel, a still figure whose own sliders work in the browser alone.
"""

from gptlab.apps.arcs import attention_arcs
from gptlab.apps.bars import next_token
from gptlab.apps.betas import preference_runs
from gptlab.apps.contexts import last_words
from gptlab.apps.counter import parameter_counter
from gptlab.apps.cuts import sampling_cut
from gptlab.apps.fields import receptive_field
from gptlab.apps.films import Film
from gptlab.apps.flows import flow
from gptlab.apps.gaps import hidden_word
from gptlab.apps.glance import all_heads
from gptlab.apps.heads import attention
from gptlab.apps.judged import judged_answers
from gptlab.apps.learning import training
from gptlab.apps.lens import logit_lens
from gptlab.apps.machine import Machine
from gptlab.apps.merging import merge_steps
from gptlab.apps.moving import moving_lines
from gptlab.apps.norms import layer_norm
from gptlab.apps.scoring import score_words
from gptlab.apps.silencing import ablate_heads
from gptlab.apps.sizes import table_size
from gptlab.apps.sliding import sliding_window
from gptlab.apps.slopes import descent
from gptlab.apps.speeds import cache_speed
from gptlab.apps.steps import attention_steps
from gptlab.apps.strip import token_strip, token_strips
from gptlab.apps.translating import translation
from gptlab.apps.trees import beam_tree
from gptlab.apps.vectors import nearest_words, word_map
from gptlab.apps.writing import generate

__all__ = [
    "Film",
    "Machine",
    "ablate_heads",
    "all_heads",
    "attention",
    "attention_arcs",
    "attention_steps",
    "beam_tree",
    "cache_speed",
    "descent",
    "flow",
    "generate",
    "hidden_word",
    "judged_answers",
    "last_words",
    "layer_norm",
    "logit_lens",
    "merge_steps",
    "moving_lines",
    "nearest_words",
    "next_token",
    "parameter_counter",
    "preference_runs",
    "receptive_field",
    "sampling_cut",
    "score_words",
    "sliding_window",
    "table_size",
    "token_strip",
    "token_strips",
    "training",
    "translation",
    "word_map",
]
