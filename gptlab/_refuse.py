"""One sentence for bad input: which argument, the value it had, what would do instead."""


def refuse(argument: str, value: object, would_do: str, error: type[Exception] = ValueError) -> Exception:
    """Build the error that turns bad input away at the door; the caller raises it.

    >>> raise refuse("top_k", 0, "a whole number of at least 1, or None to keep every token")
    Traceback (most recent call last):
        ...
    ValueError: top_k is 0, but must be a whole number of at least 1, or None to keep every token
    """
    shown = repr(value)
    if len(shown) > 120:
        shown = f"{shown[:80]} … {shown[-30:]}"
    return error(f"{argument} is {shown}, but must be {would_do}")
