"""``python -m pysynthdp``: the command line."""

from pysynthdp.cli.signals import stop_at_once

stop_at_once()  # before what is slow to load

from pysynthdp.cli.app import main  # noqa: E402 -- a signal may come while it loads

__all__ = ["main"]

if __name__ == "__main__":
    main()
