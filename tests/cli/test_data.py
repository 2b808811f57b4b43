"""The commands about data: small files with all kinds of faults, then the real ones from end to end."""

import gzip
import io
import re
from collections import Counter, defaultdict
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from support.gaf_lines import gaf_line

pd = pytest.importorskip("pandas")
typer = pytest.importorskip("typer")

from hietan._runtime.equal_rows import has_equal  # noqa: E402
from hietan.catalogue import load_dataset  # noqa: E402
from hietan.datasets import Dataset  # noqa: E402
from hietan.datasets._fetching.fetch import COLLECTIONS  # noqa: E402

OBO = "".join(
    f"[Term]\nid: T:{i}\nname: term {i} [bold]\nnamespace: n\nis_a: T:{i // 2}\n\n" for i in range(2, 8)
)
OBO += "[Term]\nid: T:1\nname: root\nnamespace: n\n"
GAF = "!gaf-version: 2.2\n" + "".join(
    gaf_line(f"P{i}", f"T:{i}", f"g{i}", synonyms="") + "\n" for i in range(2, 8)
)
CSV = "gene,effect\n" + "".join(f"g{i},{'up' if i % 2 else 'down'}\n" for i in range(2, 8))


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "go.obo").write_text(OBO)
    (tmp_path / "wb.gaf").write_text(GAF)
    (tmp_path / "labels.csv").write_text(CSV)
    return tmp_path


def build(files, *more):
    inputs = ("--ontology", files / "go.obo", "--annotations", files / "wb.gaf")
    labels = ("--labels", files / "labels.csv")
    return ("build", *inputs, *labels, "-o", files / "out.hietan", "--min-support", "1", *more)


def test_build_writes_and_shows(run, files):
    result = run(*build(files))
    assert result.exit_code == 0, result.output
    data = Dataset.load(files / "out.hietan")
    assert data.X.shape == (6, 6) and data.target_names == ("down", "up")
    for part in (
        "out: 6 rows, 6 features",
        "down 3, up 3",
        "What was dropped",
        "term 2 [bold]",
        "dropped: root",
    ):
        assert part in result.stdout
    assert result.stderr == ""


def test_options_reach_the_library(run, files):
    more = "--map up=yes --map down=no --where effect=up --no-drop-roots --name toy".split()
    result = run(*build(files, *more, *"--match symbol --evidence IMP --namespaces n".split()))
    assert result.exit_code == 0, result.output
    data = Dataset.load(files / "out.hietan")
    assert (data.name, data.X.shape, data.target_names) == ("toy", (3, 5), ("yes", "no"))
    options = data.provenance["options"]
    assert (options["drop_roots"], options["match"], options["evidence"]) == (False, ["symbol"], ["IMP"])


def test_columns_of_another_dataset(run, files):
    assert run(*build(files)).exit_code == 0
    genome = files / "genome.hietan"
    words = ["build", "--ontology", files / "go.obo", "--annotations", files / "wb.gaf", "-o", genome]
    result = run(*words, "--features-of", files / "out.hietan")
    assert result.exit_code == 0, result.output
    assert Dataset.load(genome).feature_names == Dataset.load(files / "out.hietan").feature_names
    assert "no labels" in result.stdout


def test_info(run, files):
    run(*build(files))
    result = run("info", files / "out.hietan")
    assert result.exit_code == 0
    for part in (
        "out: 6 rows",
        "Most common features",
        "Origin",
        "wb.gaf",
        "options: min_support",
    ):
        assert part in result.stdout


def test_warnings_are_lines_of_their_own(run, files):
    (files / "wb.gaf").write_text(GAF + "short\tline\twith 3 columns\n")
    (files / "labels.csv").write_text(CSV + "nobody,up\n")
    result = run(*build(files))
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first.startswith("warning: ") and "skipped 1 of 7 lines (first: line 8)" in first
    assert second == "warning: 14.3% of the labelled genes (1 of 7) have no usable annotation: 'nobody'"


CYCLE = "[Term]\nid: A\nis_a: B\n[Term]\nid: B\nis_a: A\n"
BROKEN = [
    (
        "wb.gaf",
        gzip.compress(GAF.encode() * 50, mtime=0)[:-30],
        r"wb.gaf, line \d+: the file is damaged or truncated",
    ),
    ("go.obo", b"\x7fELF\x02\x01\x01\0\0", "go.obo, line 1: expected text, but this is binary data"),
    ("labels.csv", b"\x89PNG\r\n\x1a\n\0", "labels.csv, line 3: expected text, but this is binary data"),
    ("go.obo", CYCLE.encode(), "go.obo, line 1: the edges form a cycle; remove one of them: A -> B -> A"),
    ("go.obo", b"[Term]\nname: nobody\n", "go.obo, line 1: expected one id in this"),
    (
        "wb.gaf",
        b"a\tb\tc\n",
        "wb.gaf: the columns of ids and terms are unclear; .* The columns are a, b, c",
    ),
    ("wb.gaf", b"!gaf-version: 2.2\na\tb\tc\n", "wb.gaf, line 2: none of 1 lines is an annotation"),
    ("go.obo", b"", "go.obo: the file is empty; expected an ontology"),
    ("wb.gaf", b"", "wb.gaf: the file is empty; expected annotations"),
    ("labels.csv", b"", "labels.csv: the file is empty"),
    ("labels.csv", b"gene,effect\ng9,up\n", "no row is left"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN)
def test_broken_files_give_one_clear_line(run, files, name, content, message):
    (files / name).write_bytes(content)
    result = run(*build(files))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert re.search(message, line), line
    assert not (files / "out.hietan").exists()


@pytest.mark.parametrize("name", ["go.obo", "wb.gaf", "labels.csv"])
@pytest.mark.parametrize(
    "dress",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: gzip.compress(text.encode()),
    ],
    ids=["byte order mark", "CRLF", "gzip"],
)
def test_harmless_dress_changes_nothing(run, files, name, dress):
    run(*build(files))
    plain = Dataset.load(files / "out.hietan")
    (files / name).write_bytes(dress((files / name).read_text()))
    result = run(*build(files))
    assert result.exit_code == 0 and result.stderr == ""
    again = Dataset.load(files / "out.hietan")
    assert (again.X != plain.X).nnz == 0 and again.provenance["account"] == plain.provenance["account"]


def test_latin1_and_repeated_genes_are_mended_and_counted(run, files):
    (files / "go.obo").write_bytes(OBO.replace("root", "Wurzel-Übel").encode("latin-1"))
    (files / "labels.csv").write_text(CSV + "g2,down\ng3,down\n")  # the same again, and a contradiction
    result = run(*build(files))
    assert result.exit_code == 0
    assert result.stderr.count("lines are not UTF-8") >= 1
    account = Dataset.load(files / "out.hietan").provenance["account"]["label rows"]
    assert account["dropped"] == {"conflicting labels": 2}
    assert account["changed"] == {"further row of an id": 1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--map", "nonsense"), "--map is 'nonsense'; expected KEY=VALUE"),
        (("--namespaces", "BP"), "namespaces is 'BP'; the ontology's namespaces are 'n'"),
        (("--relations", "is_a,part_of"), "no relation 'part_of'"),
        (("--id-column", "symbol"), "no column 'symbol'"),
        (("--min-support", "0"), "min_support is 0"),
        (("--ontology", "/no/such/file"), "error: /no/such/file does not exist; check the path"),
        (("-o", "/no/such/directory/out"), "error: /no/such/directory does not exist; check the path"),
    ],
)
def test_wrong_options_give_one_clear_line(run, files, words, message):
    result = run(*build(files, *words))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ") and message in line


def test_info_of_something_else(run, files):
    result = run("info", files / "go.obo")
    assert result.exit_code == 2 and "not a hietan dataset" in result.stderr


def test_the_help_of_fetch_names_every_collection(run):
    text = " ".join(run("fetch", "--help").output.replace("│", " ").split())
    for name in COLLECTIONS:
        assert name in text or (
            name.startswith("annotations-") and "annotations-worm (also -fly and others)" in text
        )


def test_fetch(run, real_data):
    result = run("fetch", "genage-models", "--release", "2025")
    assert result.exit_code == 0
    assert result.stdout.strip().endswith("genage-2025/genage_models_2025.csv")
    result = run("fetch", "everything")
    assert result.exit_code == 2 and "there is no collection 'everything'; expected one of" in result.stderr


# ----------------------------------------------------------------- real files, counted another way


@lru_cache
def plain_ontology(path):
    """(parents, alternative ids) of the living terms of biological process, by splitting at blank lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stanzas = [part.splitlines() for part in file.read().split("\n\n") if part.startswith("[Term]")]
    parents, current, everything = {}, {}, set()
    for lines in stanzas:
        tags = defaultdict(list)
        for line in lines[1:]:
            tag, _, value = line.partition(": ")
            tags[tag].append(value.split(" ! ")[0].split(" {")[0])
        everything.update(tags["id"])
        if tags["namespace"] == ["biological_process"] and "is_obsolete" not in tags:
            parents[tags["id"][0]] = tags["is_a"]
        current.update(dict.fromkeys(tags["alt_id"], tags["id"][0]))
    return parents, current, everything


def plain_annotations(path, parents, current):
    """The lines of a GAF as a frame, with the reason for which each is dropped ("" if it is not)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("!"))
    columns = {1: "object", 2: "symbol", 3: "qualifier", 4: "term", 10: "synonyms"}
    frame = pd.read_csv(
        io.StringIO(text),
        sep="\t",
        header=None,
        quoting=3,
        dtype=str,
        keep_default_na=False,
        usecols=list(columns),
    ).rename(columns=columns)
    frame["now"] = frame["term"].map(lambda term: current.get(term, term))
    frame["why"] = ""
    frame.loc[~frame["now"].isin(parents), "why"] = "other namespace"
    frame.loc[frame["qualifier"].str.split("|").map(lambda q: "NOT" in q), "why"] = "NOT: states the opposite"
    return frame


def plain_join(symbols, frame):
    """The objects of each symbol in GenAge: those with the symbol, else the one with the synonym."""
    by_symbol, by_synonym = defaultdict(set), defaultdict(set)
    genes = frame[["object", "symbol", "synonyms"]].drop_duplicates()
    for gene, symbol, synonyms in genes.itertuples(index=False):
        by_symbol[symbol].add(gene)
        for synonym in synonyms.split("|"):
            by_synonym[synonym].add(gene)
    objects = set(frame["object"])
    found, lost = {}, Counter()
    for symbol in symbols:
        mine = {symbol} if symbol in objects else by_symbol.get(symbol)
        if mine is None and len(by_synonym.get(symbol, ())) > 1:
            lost["synonym of several genes"] += 1
        elif mine is None and symbol not in by_synonym:
            lost["no gene of this name is annotated"] += 1
        else:
            found[symbol] = frozenset(mine or by_synonym[symbol])
    return found, lost


@pytest.mark.patient
@pytest.mark.parametrize(
    ("animal", "species"), [("worm", "Caenorhabditis elegans"), ("fly", "Drosophila melanogaster")]
)
def test_genage_2025_with_annotations_of_2019(run, real_data, tmp_path, animal, species):
    ontology = f"{real_data}/go-2019/GeneOntology_2019.01.29.obo.gz"
    annotations = f"{real_data}/go-2019/GO.goa_{animal}_2019.01.29.gz"
    table = f"{real_data}/genage-2025/genage_models_2025.csv"
    words = ["--ontology", ontology, "--annotations", annotations, "--labels", table, "--namespaces", "BP"]
    words += ["--id-column", "symbol", "--label-column", "longevity influence"]
    words += ["--where", f"organism={species}"]
    words += "--map Anti-Longevity=anti --map Pro-Longevity=pro".split()
    result = run("build", *words, "-o", tmp_path / f"{animal}.hietan")
    assert result.exit_code == 0, result.output
    data = Dataset.load(tmp_path / f"{animal}.hietan")
    account = data.provenance["account"]

    # Labels: symbols all of whose rows say the same.
    genage = pd.read_csv(table)
    ours = genage[genage["organism"] == species]
    said = ours.groupby("symbol", sort=False)["longevity influence"].agg(set)
    label = {
        s: next(iter(v)) for s, v in said.items() if len(v) == 1 and v < {"Anti-Longevity", "Pro-Longevity"}
    }
    rows = account["label rows"]
    assert rows["read"] == len(genage) and rows["dropped"]["not requested"] == len(genage) - len(ours)
    assert rows["used"] == ours["symbol"].isin(label).sum()
    assert account["labelled genes"]["read"] == len(label)

    # Genes.
    parents, current, everything = plain_ontology(ontology)
    frame = plain_annotations(annotations, parents, current)
    assert set(frame["now"]) <= everything
    found, lost = plain_join(label, frame)
    usable = defaultdict(set)
    for gene, term in (
        frame.loc[frame["why"] == "", ["object", "now"]].drop_duplicates().itertuples(index=False)
    ):
        usable[gene].add(term)
    terms = {s: set().union(*(usable[o] for o in objects)) for s, objects in found.items()}
    lost["no usable annotation"] = sum(not t for t in terms.values())
    first = {}
    for symbol, objects in found.items():
        if terms[symbol]:
            first.setdefault(objects, symbol)
    lost["same gene under an earlier id"] = sum(map(bool, terms.values())) - len(first)
    assert Counter(account["labelled genes"]["dropped"]) == +lost
    assert data.instance_names == tuple(first.values())
    assert [data.target_names[c][:3].lower() for c in data.y] == [
        label[s][:3].lower().rstrip("-") for s in first.values()
    ]

    # Annotations.
    in_rows = set().union(*first)
    expected = Counter(frame["why"]) + Counter()
    expected["gene is not a row"] = int(((frame["why"] == "") & ~frame["object"].isin(in_rows)).sum())
    used = expected.pop("") - expected["gene is not a row"]
    assert account["annotations"]["read"] == len(frame)
    assert account["annotations"]["used"] == used
    assert Counter(account["annotations"]["dropped"]) == expected

    # Terms, by walking upwards from each annotation.
    def upwards(term, seen):
        if term not in seen:
            seen.add(term)
            for parent in parents[term]:
                upwards(parent, seen)
        return seen

    closed = {s: set().union(*(upwards(t, set()) for t in terms[s])) for s in first.values()}
    support = Counter(t for every in closed.values() for t in every)
    kept = {t for t, n in support.items() if n >= 3} - {"GO:0008150"}
    assert account["terms"]["read"] == len(support)
    assert set(data.feature_names) == kept and account["terms"]["used"] == len(kept)
    assert data.X.nnz == sum(len(every & kept) for every in closed.values())
    assert data.hierarchy.is_closed(data.X)


def test_options_are_taken_over_from_another_dataset(run, tmp_path, monkeypatch):
    """Those that are given replace them, even by what is the default otherwise, and a line says so."""
    monkeypatch.chdir(tmp_path)
    Path("edges.tsv").write_text("tea\tdrinks\tisa\nice\tdrinks\tisa\ntea\tmeal\tpart of\npie\tmeal\tisa\n")
    Path("pairs.csv").write_text("".join(f"p{i},{'tea' if i % 2 else 'ice'}\n" for i in range(8)))
    Path("labels.csv").write_text("".join(f"p{i},{['no', 'yes', 'no', '-'][i % 4]}\n" for i in range(8)))
    files = ("build", "--edges", "edges.tsv", "--edge-columns", "1,2,3", "--pairs", "pairs.csv")
    first = (
        *files,
        "--labels",
        "labels.csv",
        "--relations",
        "is a,part of",
        "--missing-labels",
        "-,?",
        "--min-support",
        "1",
    )
    result = run(*first, "--label-words", "tea", "-o", "first.hietan")
    assert result.exit_code == 0, result.output
    assert "2 of 8 label rows have no label" in result.stderr and "no 4, yes 2" in result.stdout
    options = Dataset.load("first.hietan").provenance["options"]
    assert options["relations"] == ["is_a", "part_of"] and options["label_words"] == ["tea"]
    like = ("build", "--edges", "edges.tsv", "--pairs", "pairs.csv", "--like", "first.hietan")
    assert run(*like, "-o", "like.hietan").stderr == ""
    assert Dataset.load("like.hietan").provenance["options"]["edge_columns"] == ["1", "2", "3"]
    said = "warning: 1 of 4 edges have a relation other than is_a and are ignored (--relations)\n"
    said += "warning: built differently from first: relations is_a instead of is_a, part_of\n"
    assert run(*like, "--relations", "is_a", "-o", "other.hietan").stderr == said
    assert run("fit", "first.hietan", "--no-validate", "-o", "model.hietan").exit_code == 0
    assert (
        "built differently from the model's training data"
        not in run("predict", "model.hietan", "like.hietan").stderr
    )
    assert "relations is_a instead of is_a, part_of" in run("predict", "model.hietan", "other.hietan").stderr
    assert "Features named like the label" in run("info", "first.hietan").stdout


def test_info_counts_equal_rows_of_one_dataset_and_of_several(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    data = load_dataset("fly-BP")
    rows = np.repeat(np.flatnonzero(~has_equal(data.X))[:20], 2)
    names = tuple(map(str, range(40)))
    replace(data.subset(rows), y=np.tile([0, 1], 20), instance_names=names).save(tmp_path / "d.hietan")
    result = run("info", tmp_path / "d.hietan")
    assert (
        "40 rows have an equal: 20 pairs, 20 with different classes (expected by chance: 10.0)"
        in result.stdout
    )
    assert "warning: 20 of 20 pairs of equal rows have different classes" in result.stderr
    lines = run("info", "worm-BP", tmp_path / "d.hietan").stdout.splitlines()
    cells = [re.split(r" {2,}", line.strip()) for line in lines if line.startswith(("worm", "fly", "total"))]
    assert cells[0] == ["worm-BP", "679", "1,420", "148", "197", "30", "90.2"]
    assert cells[1][3:] == ["40", "20", "20", "10.0"]
    assert cells[2][0] == "total" and cells[2][-4:] == ["188", "217", "50", "100.2"]
