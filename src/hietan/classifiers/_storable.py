"""How a fitted model is taken apart and put together: what `hietan.save` and `hietan.load` rely on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from hietan._runtime.notebook import Documented
from hietan.structure import is_unit


class StorableMixin(Documented):
    """The protocol between the classifiers and `hietan.persistence`.

    A model is its parameters (`get_params`) and its fitted attributes (`__hietan_fitted__`). To put it together, an
    unfitted model with the same parameters is given the attributes (`__hietan_restore__`), once it is known that they
    are those of its class (`__hietan_check_names__`).
    """

    _stored: ClassVar[frozenset[str]]  # the fitted attributes that every model of the class has
    _stored_sometimes: ClassVar[frozenset[str]] = frozenset({"feature_names_in_"})
    without_hierarchy: ClassVar[str] = ""
    """What a classifier is without a hierarchy; "" if it does not use one."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the counts: the kernel's objects cannot be pickled, and are made again."""
        state: dict[str, Any] = {**super().__getstate__()}  # type: ignore[dict-item]
        state.pop("_structure", None)
        return state

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def __hietan_fitted__(self) -> dict[str, Any]:
        """The fitted attributes: by scikit-learn's convention, those whose names end with an underscore.

        Attributes that follow from them have names that begin with one, and are not stored.
        """
        return {
            name: value
            for name, value in sorted(vars(self).items())
            if name.endswith("_") and not name.startswith("_")
        }

    @classmethod
    def __hietan_check_names__(cls, names: Iterable[str]) -> None:
        """Refuse the names of fitted attributes if they are not those of a model of this class."""
        given = set(names)
        unknown = sorted(given - cls._stored - cls._stored_sometimes)
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not a fitted attribute of {cls.__name__}")
        missing = sorted(cls._stored - given)
        if missing:
            raise ValueError(f"the fitted attribute {missing[0]!r} of {cls.__name__} is missing")

    def __hietan_restore__(self, fitted: Mapping[str, Any]) -> None:
        """Restore fitted attributes of this class, checked by the caller; wrong parameters are refused."""
        self._check_parameters()
        for name, value in fitted.items():
            setattr(self, name, value)


def with_unit(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """Fitted attributes with the unit of their counts: 1 in files of older versions. A wrong one is refused."""
    unit = fitted.get("weight_unit_", 1.0)
    if not is_unit(unit):
        raise ValueError(f"weight_unit_ is not a power of two: {unit!r:.80}")
    return {**fitted, "weight_unit_": unit}
