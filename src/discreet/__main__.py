"""`discreet`, and `python -m discreet`: the command line, in a process that does one thing and is gone."""

import atexit
import gc
import os
import sys

_MADE = 500_000
"""How many objects are made before Python looks for cycles among them: libraries make most of them, and keep them."""


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line, also while its modules are still being loaded."""
    gc.set_threshold(_MADE)
    codes: list[int] = []
    atexit.register(_leave, codes)  # the first to be registered is the last to be called
    try:
        from discreet.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped by Ctrl-C\n")
        sys.exit(130)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            codes.append(end.code or 0)
        raise


def _leave(codes: list[int]) -> None:
    """End the process, once all that is called at exit is done, without taking apart what is in memory.

    Modules are a million objects by then; freeing them one by one takes a fifth of the time of a small question.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # Python itself says that nobody reads any more
        return
    if codes:
        os._exit(codes[0])


if __name__ == "__main__":
    main()
