"""`discreet`, and `python -m discreet`: the command line."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it in one line, also while its modules are still being loaded."""
    try:
        from discreet.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped by Ctrl-C\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
