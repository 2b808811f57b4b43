"""The worked example that most tests of the hierarchy use."""

import pytest

from hietan.hierarchy import Hierarchy
from support.hierarchies import WORKED_EDGES


@pytest.fixture
def worked() -> Hierarchy:
    return Hierarchy.from_edges(WORKED_EDGES)
