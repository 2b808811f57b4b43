"""The command: python -m reproduction.accuracy run|status."""

from __future__ import annotations

import sys

from reproduction.accuracy import measure

if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        measure.run()
    elif sys.argv[1:] == ["status"]:
        print(measure.progress())
    else:
        sys.exit("usage: python -m reproduction.accuracy run|status")
