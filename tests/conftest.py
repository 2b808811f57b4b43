"""What all tests share: hypothesis profiles, the order of the tests, and the way to ask for the real datasets."""

import gc
import os

# scikit-learn runs one of its estimator checks only where this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

# The examples are the same in every run, so that a failure is about the change at hand. New ones are looked for by
# HYPOTHESIS_PROFILE=thorough (`make explore`), ten times as long; `make test` takes short, `make quick` takes quick.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    print_blob=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=500)
settings.register_profile("short", settings.get_profile("default"), max_examples=10)
settings.register_profile("quick", settings.get_profile("default"), max_examples=5)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Programs are run by tests, in processes of their own, and import each other from their own folder.
collect_ignore = ["support/programs"]


def pytest_collection_modifyitems(items):
    """Mark what needs the real datasets; begin with the clusters.

    A process of pytest-xdist takes neighbouring tests, so that one is enough for all clusters, and most fixtures are
    made once.
    """
    for item in items:
        if "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker("real")
    items.sort(key=lambda item: item.get_closest_marker("cluster") is None)


def pytest_collection_finish():
    """Keep the garbage collector from going through all modules and tests again and again: they stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def real_data():
    """The directory of the real datasets; asking for it skips a test where they are absent."""
    if not os.environ.get("HIETAN_DATA"):
        pytest.skip("the real datasets are not here: HIETAN_DATA is not set")
    return os.environ["HIETAN_DATA"]
