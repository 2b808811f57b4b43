"""What the house promises: short functions, folders that are not full, no cycles, no private ways between rooms."""

from pathlib import Path

import pytest

from support import house
from support.house import LIMITS, Tree

TREE = Tree(Path(__file__).parents[1])
pytestmark = pytest.mark.source


def too_large(places, limit):
    return [f"{place.where}: {place.size}" for place in places if place.size > limit]


def test_the_top_level_is_seen_at_a_glance():
    entries = house.top_level(TREE)
    assert len(entries) <= LIMITS["top level"], entries


def test_no_folder_is_full():
    assert too_large(house.folders(TREE), LIMITS["folder"]) == []


def test_a_file_fits_in_a_few_screens():
    assert too_large(house.files(TREE), LIMITS["file"]) == []


@pytest.mark.parametrize(
    "suffixes", [(".py",), (".hpp", ".cpp"), (".js",)], ids=["Python", "C++", "JavaScript"]
)
def test_a_function_fits_in_one_screen(suffixes):
    found = house.functions(TREE, *suffixes)
    assert len(found) > 30
    assert too_large(found, LIMITS["function"]) == []


def test_no_two_modules_need_each_other():
    """Not even by imports within functions, or for types."""
    assert house.cycles(TREE, types=True) == []


def test_every_public_name_says_what_it_is():
    assert house.undocumented(TREE) == []


def test_what_is_private_stays_in_its_module():
    assert house.private_imports(TREE) == []


def test_nobody_uses_private_attributes_of_others():
    assert house.private_calls(TREE) == []


# ------------------------------------------------------------------------------------ the measures themselves


PYTHON = '''
class Door:
    def open(self):
        """Two lines
        that do not count."""
        def inner():
            return 1
        return inner()
'''
CPP = """
namespace house {
struct Door {
  int width{1}, height{2};
  Door(int w) : width{w}, height(2) {
    if (w > 0) { width = '{'; }
  }
  int area() const { return width * height; }
};
// void comment() {
template <typename T>
void open(const T& door,
          bool wide) {
  auto each = [&](int k) {
    return k;
  };
  /* } */ each(1'000);
}
}  // namespace house
"""
JAVASCRIPT = """
const text = `a ${"{"} b`;
function open(door, { wide = true } = {}) {
  if (wide) {
    door.on("click", () => {
      door.turn();
    });
  }
  return { door };
}
const shut = (door) => {
  door.turn();
};
"""


def test_lines_of_functions():
    assert sorted(house.python_functions(PYTHON)) == [("inner", 2), ("open", 4)]
    assert list(house.cpp_functions(CPP)) == [("Door", 3), ("area", 1), ("open", 8)]
    assert sorted(size for _, size in house.javascript_functions(JAVASCRIPT)) == [3, 3, 8]


@pytest.fixture
def small(tmp_path):
    """A package with one of each fault."""
    package = tmp_path / "src" / "hietan"
    (package / "room").mkdir(parents=True)
    (package / "__init__.py").write_text('"""A package."""\n')
    (package / "room" / "__init__.py").write_text('"""A room."""\n')
    (package / "room" / "_hidden.py").write_text(
        '"""Hidden."""\n_secret = 1\ndef shown():\n    def helper(): pass\nclass Thing:\n    """A thing."""\n'
        "    _own = 1\n    @property\n    def size(self): return self._own\n    def _part(self): pass\n"
    )
    (package / "first.py").write_text(
        '"""First."""\nfrom hietan.room._hidden import Thing, _secret\n'
        "def _peek(thing):\n    from hietan import second\n    return thing._part(), _peek\n"
    )
    (package / "second.py").write_text('"""Second."""\nfrom hietan.first import x\n')
    (package / "third.py").write_text(
        '"""Third."""\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from hietan.fourth import y\n'
    )
    (package / "fourth.py").write_text('"""Fourth."""\nimport hietan.third\n')
    return Tree(tmp_path)


def test_faults_are_found(small):
    assert house.cycles(small) == [["hietan.first", "hietan.second"]]
    assert house.cycles(small, types=True) == [
        ["hietan.first", "hietan.second"],
        ["hietan.fourth", "hietan.third"],
    ]
    assert house.undocumented(small) == ["hietan.room._hidden.Thing.size", "hietan.room._hidden.shown"]
    assert house.private_imports(small) == [
        "hietan.first imports _secret of hietan.room._hidden",
        "hietan.first imports hietan.room._hidden, private to its room",
    ]
    assert house.private_calls(small) == ["hietan.first: thing._part"]
    assert house.top_level(small) == [
        "__init__.py",
        "first.py",
        "fourth.py",
        "room",
        "second.py",
        "third.py",
    ]
    assert "| import cycles, lazy imports included | 1 |" in house.table(small)
