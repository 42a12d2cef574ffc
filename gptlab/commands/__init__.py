"""The commands of the command line, one file each: `options` says which words a command takes, `run` does it.

`gptlab.__main__` parses the words and calls. Commands alone may print: results to stdout, what goes on beside them to
stderr. A command returns its exit code, or None for 0; bad input is an exception in one sentence, as everywhere.
"""
