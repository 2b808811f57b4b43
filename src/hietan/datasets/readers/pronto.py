"""Ontologies in OBO-Graph JSON or OWL, read by pronto."""

from __future__ import annotations

import io
import json
import warnings
from typing import Any

from hietan._runtime.optional import import_optional
from hietan.datasets.readers.files import BROKEN, TextSource, open_binary_or_text, source_name
from hietan.datasets.readers.ontology import Ontology, Term
from hietan.exceptions import DataError, DataWarning

_MOST_BYTES = 2 << 30  # pronto reads a file as a whole, and takes many times its size


def read_with_pronto(source: TextSource) -> Ontology:
    """Read whatever `pronto` reads: OBO-Graph JSON, OWL (RDF/XML) and, slowly, OBO.

    Imports are not followed, since a file may name any address or any other file as one; a warning names them.
    """
    pronto = import_optional("pronto", extra="ontologies", purpose="reading OBO-Graph JSON and OWL")
    name = source_name(source)
    content = _read_whole(source, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about details of the format that do not matter here
        try:
            loaded = pronto.Ontology(io.BytesIO(content), import_depth=0)
            terms = {term.id: _term(term) for term in loaded.terms()}
        except BaseException as error:  # its parser is compiled, and may panic outside of Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise DataError(f"pronto cannot read it: {error}", name) from error
    if imports := sorted(map(str, loaded.metadata.imports)):
        message = (
            f"{name}: {len(imports)} imports are not followed (first: {imports[0]:.200}); use an edition of the "
            "ontology that has them merged in"
        )
        warnings.warn(message, DataWarning, stacklevel=3)
    if not terms:
        raise DataError("no term found; expected an ontology in OBO, OBO-Graph JSON or OWL", name)
    return Ontology(terms, loaded.metadata.data_version or "", name)


def _read_whole(source: TextSource, name: str) -> bytes:
    """The content of the file, of which JSON is known to be JSON.

    pronto reads JSON as YAML, which takes quadratic time for what is deeply nested, and knows references.
    """
    with open_binary_or_text(source) as file:
        try:
            content = file.read(_MOST_BYTES + 1)
        except (*BROKEN, UnicodeDecodeError) as error:
            raise DataError(f"the file is damaged or cut short: {error}", name) from error
    if len(content) > _MOST_BYTES:
        raise DataError(f"the ontology has more than {_MOST_BYTES:,} bytes; convert it to OBO", name)
    data: bytes = content.encode() if isinstance(content, str) else content
    if data.lstrip().startswith(b"{"):
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(f"not an ontology in OBO-Graph JSON: {error}", name) from error
    return data


def _term(term: Any) -> Term:
    # pronto holds sets; sorting makes the result the same in every run.
    parents = (parent.id for parent in term.superclasses(distance=1, with_self=False))
    related = ((kind.id, target.id) for kind, targets in term.relationships.items() for target in targets)
    return Term(
        id=term.id,
        name=term.name or term.id,
        namespace=term.namespace or "",
        is_a=tuple(sorted(parents)),
        alt_ids=tuple(sorted(term.alternate_ids)),
        is_obsolete=bool(term.obsolete),
        relationships=tuple(sorted(related)),
        replaced_by=tuple(sorted(other.id for other in term.replaced_by)),
        consider=tuple(sorted(other.id for other in term.consider)),
    )
