"""Apps: figures with their controls, for any model and tokenizer.

Each is a live widget and, on a page without a kernel, a still figure whose own sliders work in the browser alone.
"""

from gptlab.apps.bars import next_token
from gptlab.apps.heads import attention
from gptlab.apps.machine import Machine
from gptlab.apps.strip import token_strip
from gptlab.apps.vectors import nearest_words, word_map
from gptlab.apps.writing import generate

__all__ = [
    "Machine",
    "attention",
    "generate",
    "nearest_words",
    "next_token",
    "token_strip",
    "word_map",
]
