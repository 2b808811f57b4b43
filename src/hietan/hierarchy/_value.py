"""What makes an object a value: nothing in it can be changed, so copies of it are the object itself."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class Immutable:
    """An object whose attributes are set once, by `object.__new__` and `__dict__`, and never again."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable: cannot delete {name!r}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
