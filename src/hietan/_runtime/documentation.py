"""Where scikit-learn's HTML representation of an estimator finds its page, and that of each parameter."""

from __future__ import annotations

import os
from importlib.metadata import metadata
from typing import ClassVar


def documentation_address() -> str:
    """The address of the documentation site, without a slash at the end; "" if none is known.

    It is the environment variable HIETAN_DOCS, such as the folder that `make docs` has written as a file:// address;
    otherwise the address of the documentation in the metadata of the package, if it has one.
    """
    known = os.environ.get("HIETAN_DOCS", "")
    if not known:
        addresses = dict(line.split(", ", 1) for line in metadata("hietan").get_all("Project-URL", []))
        known = addresses.get("Documentation", "")
    return known.rstrip("/")


class Documented:
    """An estimator with a page in the API reference.

    In notebooks, scikit-learn links the name of such an estimator and those of its parameters to the page, and shows
    the description of a parameter where the mouse points at it.
    """

    documented_in: ClassVar[str] = "hietan"
    """The package under whose name the reference lists the class."""
    _doc_link_module = "hietan"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return f"{address}/generated/api/{{path}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"path": f"{self.documented_in}.{type(self).__name__}"}
