"""Small data kept as large ones are: the ways of keeping pair counts and of sorting edges, chosen by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hietan.structure._counts import PairCounts, count_pairs
from hietan.structure._edges import EdgeRanking

# The kind of storage, and how many edges are sorted first; 0: as the library chooses.
WAYS = [("dense", 0), ("dense", 3), ("sparse", 0), ("sparse", 3)]


@contextmanager
def kept(storage: str | None, block: int = 0) -> Iterator[None]:
    """Within, every fit keeps and adds up its counts this way, and sorts its edges in such blocks.

    The library chooses both by the size of the data. Here other defaults take the place of "choose", so that whole
    models, made by whatever way of fitting, can be compared.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(count_pairs.__kwdefaults__, "storage", storage)
        patch.setitem(PairCounts.add.__kwdefaults__, "storage", storage)
        patch.setitem(EdgeRanking.__init__.__kwdefaults__, "block", block)
        yield
