"""What all tests share: hypothesis profiles, and the way to ask for the real datasets."""

import os

# scikit-learn runs one of its estimator checks only where this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

from hietan.structure import counts, edges

# HYPOTHESIS_PROFILE=thorough looks ten times as long.

settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def real_data():
    """The directory of the real datasets; asking for it skips a test where they are absent."""
    if not os.environ.get("HIETAN_DATA"):
        pytest.skip("the real datasets are not here: HIETAN_DATA is not set")
    return os.environ["HIETAN_DATA"]


def _stored(how):
    """Pair counts of either kind, however small the data; in blocks, edges are sorted a few at a time."""
    kind, _, blocks = how.partition(" in ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_STORAGE", kind)
        patch.setattr(edges, "_BLOCK", 3 if blocks else 0)
        yield how


@pytest.fixture(scope="module", params=["dense", "sparse in blocks"])
def storage(request):
    """All tests of a module that asks for it run with both ways of keeping counts and ranking edges."""
    yield from _stored(request.param)


@pytest.fixture(scope="module", params=["dense", "sparse", "dense in blocks", "sparse in blocks"])
def every_storage(request):
    """The same with all four combinations."""
    yield from _stored(request.param)
