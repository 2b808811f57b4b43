"""Lines come out the same, however a file is packed and encoded; damage is named with file and line."""

import contextlib
import gzip
import io
import warnings
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hietan.datasets import read_edges
from hietan.datasets._readers import files
from hietan.datasets._readers.files import numbered_lines
from hietan.exceptions import DataError, DataWarning

TEXT = "one\ntwo ä\n\nfour\n"
LINES = [(1, "one"), (2, "two ä"), (3, ""), (4, "four")]


def packed(kind, data):
    if kind == "gz":
        return gzip.compress(data, mtime=0)
    if kind == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("table.txt", data)
            archive.writestr("__MACOSX/._table.txt", b"resource fork")
        return buffer.getvalue()
    return data


@pytest.mark.parametrize("kind", ["plain", "gz", "zip"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_packing_line_ends_and_byte_order_mark_do_not_matter(tmp_path, kind, end, mark):
    path = tmp_path / "file"  # the content tells how to unpack it, not the name
    path.write_bytes(packed(kind, mark + TEXT.replace("\n", end).encode()))
    assert list(numbered_lines(path)) == list(numbered_lines(str(path))) == LINES
    with path.open("rb") as file:
        assert list(numbered_lines(file)) == LINES
        assert not file.closed


def test_open_text_files_and_streams():
    assert list(numbered_lines(io.StringIO("\ufeff" + TEXT.replace("\n", "\r\n")))) == LINES
    assert list(numbered_lines(io.StringIO("no end"))) == [(1, "no end")]
    assert list(numbered_lines(io.BytesIO(b""))) == []


def test_a_path_may_run_on_into_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("sub/a.tsv", "a")
        archive.writestr("b.tsv", "b")
    assert list(numbered_lines(tmp_path / "two.zip/sub/a.tsv")) == [(1, "a")]
    with pytest.raises(
        DataError, match=r"expected an archive with one file, found 2 \(sub/a.tsv, b.tsv\); to read one"
    ):
        list(numbered_lines(tmp_path / "two.zip"))
    with pytest.raises(
        DataError, match=r"the archive does not contain this file; choose one of its files: sub/a.tsv, b.tsv"
    ):
        list(numbered_lines(tmp_path / "two.zip/c.tsv"))
    with pytest.raises(FileNotFoundError):
        list(numbered_lines(tmp_path / "no.zip/c.tsv"))


def test_the_one_table_of_an_archive_is_found_among_other_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "models_genes.zip", "w") as archive:
        archive.writestr("release.html", "<html>")
        archive.writestr("genage_models.csv", "a,b")
    assert list(numbered_lines(tmp_path / "models_genes.zip")) == [(1, "a,b")]


def test_latin1_lines_are_read_and_counted(tmp_path):
    path = tmp_path / "old.txt"
    path.write_bytes("plain\nMüller\ngrün\nλ\n".encode("latin-1", "replace") + "µ λ\n".encode())
    with pytest.warns(
        DataWarning, match=r"old.txt: 2 lines are not UTF-8 \(first: line 2\) and were read as Latin-1"
    ):
        lines = [line for _, line in numbered_lines(path)]
    assert lines == ["plain", "Müller", "grün", "?", "µ λ"]


def test_a_letter_cut_by_a_block_is_whole():
    text = "ä" * 400_000
    assert list(numbered_lines(io.BytesIO(b"x" + text.encode()))) == [(1, "x" + text)]


def test_truncated_gzip_names_the_line(tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % (i * i) for i in range(50_000)))[:-2000])
    got = []
    with pytest.raises(DataError, match=r"cut.gz, line \d+: the file is damaged or truncated") as caught:
        got.extend(numbered_lines(path))
    assert [int(line) for _, line in got] == [i * i for i in range(len(got))]
    assert caught.value.line == len(got) + 1 > 10_000


@pytest.mark.parametrize("data", [b"a\nb\0c\n", gzip.compress(b"a\nb\0", mtime=0), b"\x00\x01\x02" * 1000])
def test_binary_data_is_refused_with_the_line(tmp_path, data):
    path = tmp_path / "junk.obo"
    path.write_bytes(data)
    line = 1 if data[:1] == b"\x00" else 2
    with pytest.raises(DataError, match=f"junk.obo, line {line}: expected text, but this is binary data"):
        list(numbered_lines(path))


def test_damaged_archives(tmp_path):
    path = tmp_path / "bad.zip"
    whole = packed("zip", TEXT.encode() * 50)
    for data in (whole[: len(whole) // 2], b"PK\x03\x04 nonsense"):
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"bad.zip"):
            list(numbered_lines(path))
    spoiled = bytearray(packed("zip", bytes(range(97, 123)) * 50))
    spoiled[60] ^= 255
    path.write_bytes(bytes(spoiled))
    with pytest.raises(DataError, match=r"bad.zip, line 1: the file is damaged"):
        list(numbered_lines(path))


def test_any_flipped_bit_of_an_archive(tmp_path):
    """Wrong offsets make `zipfile` seek before the beginning of a file, which is an OSError or a ValueError."""
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("é.txt", TEXT)
    whole = path.read_bytes()
    lines = list(numbered_lines(path))
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        for source in (path, io.BytesIO(damaged)):
            with contextlib.suppress(DataError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert list(numbered_lines(source)) == lines or damaged[:4] != b"PK\x03\x04"


@given(data=st.binary(max_size=300), kind=st.sampled_from(["plain", "gz", "zip"]), cut=st.integers(0, 40))
def test_no_bytes_raise_anything_but_our_error(data, kind, cut):
    whole = packed(kind, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            lines = list(numbered_lines(io.BytesIO(whole[: len(whole) - cut])))
        except DataError:
            return
    for _, line in lines:
        line.encode()


@given(text=st.text())
def test_any_text_comes_through(text):
    if "\0" in text:
        return
    expected = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line for _, line in numbered_lines(io.BytesIO(text.encode()))]
    assert lines == (expected if expected[-1] else expected[:-1])


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    with pytest.raises(DataError, match=r"line 2: the line is longer than 100 characters"):
        list(numbered_lines(io.BytesIO(b"short\n" + b"x" * 1000)))


def test_utf_16_is_read_and_an_old_workbook_is_named(tmp_path):
    text, workbook = tmp_path / "u.txt", tmp_path / "old.xls"
    workbook.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    with pytest.raises(
        DataError, match="this is an old Excel workbook, which hietan does not read; save the table as .xlsx"
    ):
        list(numbered_lines(workbook))
    for codec in ("utf-16", "utf-16-be"):
        bom = "" if codec == "utf-16" else "\ufeff"
        text.write_bytes(f"{bom}id\tlabel\r\ncaf\u00e9\tx\r\n".encode(codec))
        assert list(numbered_lines(text)) == [(1, "id\tlabel"), (2, "caf\u00e9\tx")]


@pytest.mark.parametrize("gene", ["PAR1", "ARROW1"])
def test_a_text_file_may_begin_with_a_gene_called_like_a_binary_format(gene, tmp_path):
    path = tmp_path / "genes.tsv"
    for text in (f"{gene}\tlonger\n", gene, f"{gene}\ndaf-2\n{gene}"):
        path.write_text(text)
        assert [line for _, line in numbered_lines(path)] == text.splitlines()


def test_messages_name_a_few_of_many_columns(tmp_path):
    (tmp_path / "wide.csv").write_text("," * 100_000 + "\n" + "," * 100_000 + "\n")
    with pytest.raises(DataError, match="and 99,981 more") as caught:
        read_edges(tmp_path / "wide.csv")
    assert len(str(caught.value)) < 1000


class Chunk(str):
    """A text that counts the characters that are copied when it is added to another one."""

    copied = 0

    def __radd__(self, other):
        Chunk.copied += len(other) + len(self)
        return str(other) + str(self)


@pytest.mark.xfail(strict=True, reason="each part of a line is added to all parts before it")
def test_a_long_line_costs_as_much_as_its_length(monkeypatch):
    parts = [Chunk("x" * 1000) for _ in range(1000)]
    monkeypatch.setattr(files, "_texts", lambda _: ((part, "") for part in parts))
    assert list(numbered_lines(io.StringIO(""))) == [(1, "x" * 1_000_000)]
    assert 0 < Chunk.copied < 4_000_000
