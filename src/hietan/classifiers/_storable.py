"""How a fitted model is taken apart and put together: what `hietan.save` and `hietan.load` rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class StorableMixin:
    """The protocol between the classifiers and `hietan.persistence`.

    A model is its parameters (`get_params`) and its fitted attributes (`__hietan_fitted__`). To put it together, an
    unfitted model with the same parameters is given the attributes (`__hietan_restore__`).
    """

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

    def __hietan_restore__(self, fitted: Mapping[str, Any]) -> None:
        """Restore fitted attributes of this class, checked by the caller; wrong parameters are refused."""
        self._check_parameters()
        for name, value in fitted.items():
            setattr(self, name, value)
