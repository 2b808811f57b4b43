"""The command line. Each command parses its options, calls the library and prints the result."""

from __future__ import annotations

import errno
import gc
import os
import sys

INTERRUPTED = 130
"""The exit code of a command that was ended with Ctrl-C."""

# Explanations create hundreds of thousands of objects without cycles. With Python's default threshold of 700, the
# search for cycles takes a third of the time of `hietan predict --report` with a tree of 14,000 features.
_OBJECTS_BETWEEN_COLLECTIONS = 10_000


def main() -> None:
    """Run the command `hietan`."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.path.append(os.getcwd())  # `--methods module.Class` may name a module next to the data
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        print(f'error: the command line needs {error.name}: pip install "hietan[cli]"', file=sys.stderr)
        raise SystemExit(2) from None
    try:
        from hietan.cli._app import make_app

        try:
            make_app()()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    except OSError as error:
        if error.filename is not None:  # commands catch errors of files, so this one is a bug
            raise
        if error.errno != errno.EPIPE:  # a broken pipe only means that the reader has stopped
            print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(2)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
    # Python would wait for threads in calls that may never end. First remove the semaphores of process pools.
    from multiprocessing import util

    util._run_finalizers(0)  # type: ignore[attr-defined]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
