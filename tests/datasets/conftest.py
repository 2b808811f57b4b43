"""What the tests of the datasets share."""

import os

import pytest

# The Makefile sets the variable where the files are at hand.
_HAS_DATA = bool(os.environ.get("HIETAN_DATA"))


@pytest.fixture(scope="session")
def real_data():
    """Asking for it skips a test where the real datasets are absent."""
    if not _HAS_DATA:
        pytest.skip("the real datasets are not here: HIETAN_DATA is not set")
    return os.environ["HIETAN_DATA"]
