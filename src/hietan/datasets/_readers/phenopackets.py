"""Phenopackets (version 2, in JSON) as annotations. A packet is a patient, and its phenotypic features are terms."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from hietan._runtime.spelling import first_few
from hietan.datasets._duplicates import first_repeated
from hietan.datasets._readers.annotation_formats import Annotation
from hietan.datasets._readers.files import LONGEST_LINE, numbered_lines
from hietan.exceptions import DataError, DataWarning


def packet_files(folder: Path) -> list[Path]:
    """Return the packet files in a folder and its subfolders, in path order."""
    return sorted(path for path in folder.rglob("*.json") if path.is_file())


def read_folder(folder: Path) -> Iterator[Annotation]:
    """Yield the annotations of all packets in a folder."""
    files = packet_files(folder)
    if not files:
        raise DataError(
            "the folder contains no .json files; expected one phenopacket in each .json file", str(folder)
        )
    return read_packets((numbered_lines(path), str(path)) for path in files)


def read_packets(files: Iterable[tuple[Iterable[tuple[int, str]], str]]) -> Iterator[Annotation]:
    """Yield annotations from files, each of which contains a packet, a cohort or a family.

    An excluded feature gets the qualifier NOT. The id of a subject is a synonym of its packet. A warning names packets
    without features.

    Parameters
    ----------
    files : iterable of (lines, name)
        The numbered lines of each file, and its name for messages.
    """
    seen, empty = dict[str, str](), list[str]()
    for lines, name in files:
        for packet in _members(_load(lines, name), name):
            row = _entry(packet, "id", str, name)
            if row in seen:
                raise DataError(
                    f"the id {row[:80]!r} is already used by a phenopacket in {seen[row]}; give each "
                    "phenopacket a unique id",
                    name,
                )
            seen[row] = name
            subject = packet["subject"] if isinstance(packet.get("subject"), dict) else {}
            synonym = "" if subject.get("id") == row else str(subject.get("id", ""))
            features = _entry({"phenotypicFeatures": [], **packet}, "phenotypicFeatures", list, name)
            empty += [] if features else [row]
            for feature in features:
                term = _entry(_entry(feature, "type", dict, name), "id", str, name).strip()
                # Version 1 says "negated" for what version 2 calls "excluded".
                stated = {"excluded": feature.get("negated", False), **feature}
                qualifier = "NOT" if _entry(stated, "excluded", bool, name) else ""
                yield Annotation(row, term, qualifier=qualifier, synonym_field=synonym)
    if empty:
        warnings.warn(
            f"{len(empty):,} of {len(seen):,} phenopackets have no phenotypic features and add no annotations: "
            f"{first_few(empty)}",
            DataWarning,
            stacklevel=2,
        )


def _members(loaded: dict[str, Any], name: str) -> list[Any]:
    """Return the packets in a cohort or a family (proband and relatives), or a single packet."""
    first = [loaded["proband"]] if "proband" in loaded else [] if "members" in loaded else [loaded]
    lists = (_entry({key: [], **loaded}, key, list, name) for key in ("members", "relatives"))
    return [*first, *chain.from_iterable(lists)]


def _entry(found: Any, key: str, kind: type, name: str) -> Any:
    if not isinstance(found, dict) or not isinstance(found.get(key), kind):
        raise DataError(
            f"the content is not a phenopacket; expected an object with {key!r}, of type {kind.__name__}; "
            f"got {found!r:.80}",
            name,
        )
    return found[key]


def _load(lines: Iterable[tuple[int, str]], name: str) -> dict[str, Any]:
    text, size, line = list[str](), 0, 1
    for line, content in lines:
        text += [*[""] * (line - 1 - len(text)), content]
        size += len(content)
        if size > LONGEST_LINE:
            raise DataError(
                f"the phenopacket has more than {LONGEST_LINE:,} characters; remove content that is not needed",
                name,
                line,
            )
    try:
        loaded: dict[str, Any] = json.loads("\n".join(text), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"the phenopacket is not valid JSON ({error}); correct this line",
            name,
            getattr(error, "lineno", None),
        ) from error
    if not isinstance(loaded, dict):
        raise DataError(
            f"the content is not a phenopacket; expected an object with 'id', got {loaded!r:.80}", name
        )
    return loaded


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict. Raise ValueError if a key occurs twice."""
    if (repeated := first_repeated(key for key, _ in pairs)) is not None:
        raise ValueError(f"the key {repeated!r:.80} occurs twice in an object; remove one of the two")
    return dict(pairs)
