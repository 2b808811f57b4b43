"""Peak memory of methods, each in a separate process.

The child reads prepared arrays, so nothing before the measurement needs more memory than the measurement itself. On
Linux the peak is VmHWM of the child's own address space, reset to the current size just before. ru_maxrss would be
wrong there, because a child starts with its parent's value.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hietan import Hierarchy


def peaks(X: np.ndarray, y: np.ndarray, hierarchy: Hierarchy, names: Sequence[str]) -> dict[str, int]:
    """The most bytes that each method adds to its process; the name "nothing" measures the measurement itself."""
    from _data import save

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "data.npz"))
        save(path, X, y, hierarchy)
        command = [sys.executable, __file__, path]
        return {
            name: int(subprocess.run([*command, name], check=True, capture_output=True, text=True).stdout)
            for name in names
        }


def _measure(path: str, name: str) -> int:
    from _data import read
    from _methods import new

    X, y, hierarchy = read(path)
    if name == "nothing":
        before = _start()
        return _peak() - before
    few = hierarchy.restrict(hierarchy.features[:20])
    new(name, few).fit(X[:, :20], y).predict(X[:, :20])  # so that whatever is loaded on first use is loaded
    before = _start()
    new(name, hierarchy).fit(X, y).predict(X)
    return _peak() - before


def _start() -> int:
    """Reset the peak where the system allows it, and return the bytes in use."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> int:
    if Path("/proc/self/status").is_file():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


if __name__ == "__main__":
    print(_measure(*sys.argv[1:]))
