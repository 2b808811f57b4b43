"""Print the oldest version of every dependency that pyproject.toml accepts, as requirements for pip.

python packaging/oldest.py [EXTRA | GROUP ...] prints those of the build and of the package, and of these extras and
dependency groups.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?>=(?P<oldest>[\w.]+)[^;]*(?P<marker>;.*)?"
)


def oldest_requirements(content: dict[str, Any], wanted: list[str]) -> list[str]:
    """Every dependency pinned to its lower bound; pinned ones as they are.

    >>> content = {"build-system": {"requires": ["nanobind>=2.4,<4"]}, "project": {"dependencies": ["numpy>=1.26"]}}
    >>> oldest_requirements(content, [])
    ['nanobind==2.4', 'numpy==1.26']
    """
    project = content["project"]
    listed = {**project.get("optional-dependencies", {}), **content.get("dependency-groups", {})}
    required = [*content["build-system"]["requires"], *project["dependencies"]]
    for name in wanted:
        required += listed[name]
    return [_pinned(each) for each in _flat(required, listed)]


def _flat(required: list[Any], listed: dict[str, list[Any]]) -> Iterator[str]:
    """The requirements without the package's own extras and groups, which are replaced by what is in them."""
    for each in required:
        if isinstance(each, dict):
            yield from _flat(listed[each["include-group"]], listed)
        elif found := re.fullmatch(r"hietan\[(.*)\]", each):
            yield from _flat([part for name in found[1].split(",") for part in listed[name]], listed)
        else:
            yield each


def _pinned(requirement: str) -> str:
    if "==" in requirement.partition(";")[0]:
        return requirement
    found = _REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise ValueError(f"{requirement!r} has no lower bound; expected a requirement such as 'numpy>=1.26'")
    return f"{found['name']}{found['extras'] or ''}=={found['oldest']}{found['marker'] or ''}"


if __name__ == "__main__":
    print(*oldest_requirements(tomllib.loads(PYPROJECT.read_text(encoding="utf-8")), sys.argv[1:]), sep="\n")
