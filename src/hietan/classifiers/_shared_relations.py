"""The relations of a fitted model's features, held for the kernel."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from hietan import _kernel
from hietan.hierarchy import Hierarchy
from hietan.structure import kernel_relations


class SharedRelations:
    """The relations of a hierarchy, built once for the kernel and shared by all chunks of rows.

    The kernel's own object cannot be pickled; a copy in another process builds it again on first use.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy

    @cached_property
    def kernel(self) -> _kernel.Relations:
        """The relations, for the kernel."""
        return kernel_relations(self.hierarchy)

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedRelations, (self.hierarchy,)
