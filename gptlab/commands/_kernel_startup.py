"""What kernels of our lab run before the first cell; it leaves no name behind. See `_earlier_cells.py`."""

if "get_ipython" in globals():  # not a plain Python in one of the lab's terminals
    try:
        from gptlab.commands._earlier_cells import watch as _watch
    except ImportError:  # a kernel of another environment
        pass
    else:
        _watch(get_ipython())  # noqa: F821  IPython's own name
        del _watch
