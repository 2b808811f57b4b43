"""The relations of a fitted model's features, held for the kernel."""

from __future__ import annotations

from typing import Any

from hietan.hierarchy import Hierarchy
from hietan.structure import kernel_relations


class SharedRelations:
    """The relations of a hierarchy, built once for the kernel (`kernel`) and shared by all chunks of rows.

    The kernel's own object cannot be pickled; a copy in another process builds it again.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.kernel = kernel_relations(hierarchy)

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedRelations, (self.hierarchy,)
