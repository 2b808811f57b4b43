"""Models that many threads and processes use at once, and everything that they answer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hietan import Hierarchy, save
from support.families import seeded, takes

N_FEATURES = 24
ROWS = np.random.default_rng(1).random((150, N_FEATURES)) < 0.4
TARGET = (ROWS[:, 3] ^ (np.random.default_rng(2).random(150) < 0.2)).astype(int)
QUERIES = (np.random.default_rng(3).random((70, N_FEATURES)) < 0.4).astype(np.int8)
TREE = Hierarchy.from_edges([(f"f{(v - 1) // 2}", f"f{v}") for v in range(1, N_FEATURES)])
X = TREE.close(ROWS.astype(np.int8))  # the rows of real data agree with the hierarchy


def fresh_model(make):
    """A fitted classifier that has answered nothing yet; by `partial_fit`, where it has one, so nothing is learned."""
    options = {"hierarchy": TREE} if takes(make, "hierarchy") else {}
    model = make(**options, **seeded(make))
    if not hasattr(model, "partial_fit"):
        return model.fit(X, TARGET)
    model.partial_fit(X[:100], TARGET[:100], classes=[0, 1])
    return model.partial_fit(X[100:], TARGET[100:])


def answers(model):
    """The bits of all that a model says about the queries."""
    said = [model.predict(QUERIES).tobytes(), model.predict_proba(QUERIES).tobytes()]
    if hasattr(model, "predict_joint_log_proba"):
        said.append(model.predict_joint_log_proba(QUERIES).tobytes())
    said.append(repr([explanation.to_dict() for explanation in model.explain(QUERIES[:3])]))
    return said


def saved(model, path):
    """The bytes of a model's file."""
    save(model, path)
    return path.read_bytes()


def at_once(n_threads, function):
    """What `function(k)` returns in each of many threads, which all begin at the same moment."""
    gate = threading.Barrier(n_threads)

    def wait_and_call(k):
        gate.wait()
        return function(k)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(wait_and_call, range(n_threads)))


def file_of(make, directory):
    return directory / f"{make.__name__}.hietan"
