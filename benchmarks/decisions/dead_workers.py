"""What joblib's Dask backend does when workers are killed in the middle of a call.

    python benchmarks/decisions/dead_workers.py

Forty jobs of 0.3 s share one array on a local cluster of two workers. After three seconds one worker, or both, are
killed; Dask restarts them. `tests/evaluation/study/test_cluster.py` does the same, and worse, to our own layer.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from typing import Any

import distributed
import joblib
import numpy as np


def job(shared: np.ndarray, k: int) -> float:
    time.sleep(0.3)
    return float(shared.sum()) + k


def outcome(n_killed: int, scatter: bool) -> str:
    """One call of joblib, with some of the two workers killed on the way."""
    shared = np.ones((2000, 500))
    options: dict[str, Any] = {"scatter": [shared]} if scatter else {}
    started = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**started) as cluster, distributed.Client(cluster) as client:
        victims = list(client.run(os.getpid).values())[:n_killed]
        timer = threading.Timer(3, lambda: [os.kill(victim, signal.SIGKILL) for victim in victims])
        timer.start()
        try:
            with joblib.parallel_config(backend="dask", **options):
                results = joblib.Parallel()(joblib.delayed(job)(shared, k) for k in range(40))
        except Exception as error:
            return f"all results lost: {type(error).__name__}"
        finally:
            timer.join()
        return f"{len(results)} results"


def main() -> None:
    logging.disable(logging.CRITICAL)
    print(f"joblib {joblib.__version__}, distributed {distributed.__version__}")
    for scatter in (True, False):
        for n_killed in (1, 2):
            how = "scattered" if scatter else "not scattered"
            print(f"{n_killed} of 2 workers killed, array {how}: {outcome(n_killed, scatter)}", flush=True)


if __name__ == "__main__":
    main()
