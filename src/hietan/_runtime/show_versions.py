"""What a report of a bug needs to say about the machine and the installation."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

REQUIRED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
OPTIONAL = (
    "typer",
    "rich",
    "dask",
    "distributed",
    "pandas",
    "networkx",
    "matplotlib",
    "pooch",
    "pronto",
    "skops",
)


def describe_environment() -> dict[str, str]:
    """The versions, the build and the platform that the behaviour of this package may depend on, by what they are.

    >>> list(describe_environment())[:4]
    ['hietan', 'Python', 'platform', 'processors']
    """
    return {
        "hietan": _version("hietan"),
        "Python": f"{platform.python_implementation()} {platform.python_version()}, {_gil()}",
        "platform": platform.platform(),
        "processors": _processors(),
        **{name: _version(name) for name in REQUIRED},
        "kernel": _kernel(),
        "threads": _thread_pools(),
        "optional": ", ".join(f"{name} {_version(name)}" for name in OPTIONAL),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _gil() -> str:
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "with the GIL"
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    return f"free-threaded, the GIL is {'on' if enabled else 'off'}"


def _processors() -> str:
    """How many there are, and how many of them this process may use, where the system says so."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{usable} usable of {os.cpu_count()}, {platform.machine()}"


def _kernel() -> str:
    from hietan import _kernel

    file = Path(str(_kernel.__file__))
    abi = "stable ABI" if ".abi3." in file.name else "this Python's ABI"
    return f"{file.name} ({abi}), built by {_kernel.BUILT_BY}"


def _thread_pools() -> str:
    """The libraries that bring threads of their own, once those of NumPy and SciPy are loaded."""
    import scipy.linalg  # noqa: F401 - loads its own BLAS
    from threadpoolctl import threadpool_info

    found = [f"{pool['internal_api']} {pool['version']}: {pool['num_threads']}" for pool in threadpool_info()]
    return ", ".join(found) or "no pools of threads"
