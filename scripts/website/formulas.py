"""Formulas as MathML, made once with the page: browsers set it by themselves, with no script and no fonts of ours."""

from functools import cache

from math_core import LatexError, LatexToMathML

_CONVERTER = LatexToMathML(fancy_error=False)


@cache
def mathml(latex: str, *, display: bool) -> str:
    """A formula, without its dollar signs, as a `<math>` element; ValueError where it cannot be read."""
    try:
        return _CONVERTER.convert_with_local_state(latex, displaystyle=display)
    except LatexError as reason:
        raise ValueError(f"the formula {latex!r} cannot be read: {reason}") from reason
