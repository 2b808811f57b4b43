"""The options of `build_dataset`, and those of the command."""

from dataclasses import fields

import pytest

from hietan.datasets import BuildOptions
from hietan.datasets._building import build

OPTIONS = {field.name: field.default for field in fields(BuildOptions)}
# Where an option of the command has another name than the argument, or another form.
COMMAND = {"mapping": "map", "features": "features_of", "drop_terms": "drop_term"}
LISTED = {"match": ("id", "symbol", "synonym"), "relations": ("is_a",)}


def test_the_command_has_the_same_options_and_defaults():
    pytest.importorskip("typer")
    from typer.main import get_command

    from hietan.cli._app import make_app

    command = {option.name: option.default for option in get_command(make_app()).commands["build"].params}
    for name, default in OPTIONS.items():
        assert COMMAND.get(name, name) in command
        if name in LISTED:
            assert tuple(command[name].split(",")) == tuple(default) == LISTED[name]
        elif name in ("drop_terms", "label_words", "missing_labels"):
            assert command[COMMAND.get(name, name)] is None  # then the library's default counts
        else:
            assert command[COMMAND.get(name, name)] == default
    others = {
        "like",
        "ontology",
        "annotations",
        "labels",
        "output",
        "help",
        "quiet",
        "columns",
        "name",
        "row_noun",
        "positive",
    }
    assert set(command) - {COMMAND.get(name, name) for name in OPTIONS} <= others


def test_the_help_names_every_word_for_a_row():
    pytest.importorskip("typer")
    from typer.main import get_command

    from hietan.cli._app import make_app

    text = next(o.help for o in get_command(make_app()).commands["build"].params if o.name == "row_noun")
    assert all(format.partition("-")[0] in text.lower() for format in build._OF_GENES)
    assert all(noun in text for noun in ("gene", *build._NOUNS.values(), "otherwise row"))


def test_each_option_has_one_form():
    chosen = BuildOptions(
        relations="is_a", evidence="imp, IDA", taxon="taxon:6239", match="symbol", features=["b", "a"]
    )
    assert chosen.relations == ("is_a",)
    assert chosen.evidence == {"IMP", "IDA"}
    assert chosen.taxon == BuildOptions(taxon=6239).taxon == "taxon:6239"
    assert chosen.match == ("symbol",)
    assert chosen.features == ("b", "a")
