"""Check what `make` needs before anything is set up, and say what is missing and where it comes from.

python packaging/prerequisites.py; it is run by the Python that the environment is made with, whatever its version.
"""

import importlib.util
import os
import shutil
import sys
import sysconfig

OLDEST = (3, 11)


def missing():
    """What is missing, a sentence each."""
    found = []
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:2]))
        found.append(
            f"Python {version} is too old: set PYTHON to 3.11 or later, as in `make demo PYTHON=python3.12`."
        )
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        found.append("Python's module venv is missing (on Debian and Ubuntu: apt install python3-venv).")
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        found.append("Python's headers are missing (on Debian and Ubuntu: apt install python3-dev).")
    compiler = os.environ.get("CXX", "").split()[:1] or ["c++", "g++", "clang++"]
    if not any(map(shutil.which, compiler)):
        found.append("A C++ compiler is missing (on Debian and Ubuntu: apt install g++).")
    return found


if __name__ == "__main__":
    sentences = missing()
    print(*sentences, sep="\n", end="\n" if sentences else "")
    sys.exit(bool(sentences))
