"""Text files with something wrong: bytes, lines, columns, encodings, relations, compression."""

from __future__ import annotations

import gzip
import io
import re
import zipfile

TOKENS = [
    b"", b"0", b"-1", b"nan", b"1e308", b"9" * 40, b"\xff\xfe", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80",
    b"\xf0\x9f\x92\xa9", b"\0", b"\r", b"\n", b"\r\n", b"\t", b" ", b"\x0b", b"\x0c", b"\x1c", b"\x85",
    b"\xc2\x85", b"\xe2\x80\xa8", b'"', b"'", b'""', b",", b";", b"|", b"!", b"{", b"}", b"[", b"]", b"\\",
    b"\\\\n", b":", b"=", b"<", b">", b"&", b"%", b"#", b"NOT", b"[Term]", b"[Typedef]", b"is_a: GO:1",
    b"is_a: GO:77", b"id: GO:1", b"is_obsolete: true", b"alt_id: GO:2", b"!gaf-version: 2.2",
    b"!gaf-version: 9", b"!gpa-version: 1.1", b"#tax_id", b"\xef\xbb\xbf", b"\x1b[2J", b"\x1f\x8b",
    b"PK\x03\x04", b"GO:1", b"GO:4", b"taxon:6239|taxon:1", b"<!DOCTYPE html>", b"&a;", b"null", b"true",
    b"[[]]",
]  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7", "cp1252", "utf-8-sig", "cp037")
HUGE = 200_000


def _place(rng, content: bytes) -> int:
    return int(rng.integers(len(content) + 1))


def flip_bits(rng, content):
    """Some bits are others."""
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), size=rng.integers(1, 9)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def random_bytes(rng, content):
    """Some bytes are any others."""
    damaged = bytearray(content)
    for place in rng.integers(0, len(damaged), size=rng.integers(1, 9)):
        damaged[place] = int(rng.integers(256))
    return bytes(damaged)


def insert_token(rng, content):
    """Something that means something comes in somewhere, once or a few times."""
    for _ in range(rng.integers(1, 5)):
        place, token = _place(rng, content), TOKENS[rng.integers(len(TOKENS))]
        content = content[:place] + token + content[place:]
    return content


def replace_word(rng, content):
    """A word is another one: of the file, or anything."""
    words = re.findall(rb"[\w:.-]+", content)
    old = words[rng.integers(len(words))]
    new = words[rng.integers(len(words))] if rng.random() < 0.6 else TOKENS[rng.integers(len(TOKENS))]
    return content.replace(old, new, -1 if rng.random() < 0.3 else 1)


def cut(rng, content):
    """The end is missing, or the beginning, or a piece."""
    a, b = sorted((_place(rng, content), _place(rng, content)))
    return [content[:a], content[a:], content[:a] + content[b:]][rng.integers(3)]


def _lines(content):
    return content.split(b"\n")


def drop_lines(rng, content):
    """Some lines are missing."""
    lines = _lines(content)
    return b"\n".join(line for line in lines if rng.random() < 0.9)


def repeat_lines(rng, content):
    """Some lines come twice, or the whole file does."""
    if rng.random() < 0.2:
        return content + content
    lines = _lines(content)
    return b"\n".join(line for line in lines for _ in range(1 + (rng.random() < 0.1)))


def shuffle_lines(rng, content):
    """The lines come in another order."""
    lines = _lines(content)
    if rng.random() < 0.5:
        i, j = rng.integers(len(lines), size=2)
        lines[i], lines[j] = lines[j], lines[i]
        return b"\n".join(lines)
    return b"\n".join(lines[i] for i in rng.permutation(len(lines)))


def break_lines(rng, content):
    """Lines end in other ways, or nowhere."""
    ends = (b"\r", b"\r\n", b"", b" ", b"\n\n", b"\x0b", b"\x85", "\u2028".encode(), b"\n\r")
    return content.replace(b"\n", ends[rng.integers(len(ends))], int(rng.integers(1, 30)))


def change_columns(rng, content):
    """A line has a field more or less, or another one, or fields in another order."""
    lines = _lines(content)
    separator = b"\t" if b"\t" in content else b","
    for at in rng.integers(len(lines), size=rng.integers(1, 4)):
        fields = lines[at].split(separator)
        k, way = int(rng.integers(len(fields))), rng.integers(5)
        if way == 0:
            del fields[k]
        elif way == 1:
            fields.insert(k, fields[k])
        elif way == 2:
            fields[k] = TOKENS[rng.integers(len(TOKENS))]
        elif way == 3:
            fields = [fields[i] for i in rng.permutation(len(fields))]
        else:
            fields = fields * int(rng.integers(2, 40))
        lines[at] = separator.join(fields)
    return b"\n".join(lines)


def change_encoding(rng, content):
    """The same text in other bytes, or a part of it."""
    text = content.decode("utf-8", "replace")
    encoding = ENCODINGS[rng.integers(len(ENCODINGS))]
    if rng.random() < 0.5:
        return text.encode(encoding, "replace")
    place = int(rng.integers(len(text) + 1))
    return text[:place].encode() + text[place:].encode(encoding, "replace")


def huge_line(rng, content):
    """A line goes on and on."""
    unit = (
        b"x",
        b" ",
        b"\t",
        b",",
        b'"',
        b"\\",
        b"{",
        b"!",
        b" !",
        b"a ",
        b"|",
        b"\xc3\xa9",
        b"[",
        b"}",
        b"\\n",
    )
    place = _place(rng, content)
    filling = unit[rng.integers(len(unit))] * (HUGE // 2)
    return content[:place] + filling + content[place:]


def make_cycle(rng, content):
    """Terms are their own ancestors: each id of a relation may become that of any term."""
    ids = re.findall(rb"GO[:_]\d+", content)
    if not ids:
        return repeat_lines(rng, content)
    some = rng.random()

    def other(match):
        return ids[rng.integers(len(ids))] if rng.random() < some else match[0]

    return re.sub(rb"GO[:_]\d+", other, content)


WAYS = (
    flip_bits,
    random_bytes,
    insert_token,
    replace_word,
    cut,
    drop_lines,
    repeat_lines,
    shuffle_lines,
    break_lines,
    change_columns,
    change_encoding,
    huge_line,
    make_cycle,
)


def plain(rng, content):
    """As it is."""
    return content


def gzipped(rng, content):
    """Compressed, in one or two parts."""
    return b"".join(gzip.compress(part, 1) for part in (content[:50], content[50:]) if part)


def gzipped_badly(rng, content):
    """Compressed, then damaged or truncated."""
    packed = gzip.compress(content, 1)
    return (flip_bits if rng.random() < 0.5 else cut)(rng, packed)


def gzipped_with_more(rng, content):
    """Compressed, with something after it."""
    return gzip.compress(content, 1) + (b"\0" * 20, b"junk", b"\x1f\x8b", content)[rng.integers(4)]


def zipped(rng, content):
    """In an archive, alone or not; whole or damaged."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.txt", content)
        if rng.random() < 0.3:
            archive.writestr("../other.txt", b"x")
    packed = file.getvalue()
    return packed if rng.random() < 0.5 else flip_bits(rng, packed)


PACKINGS = (plain, plain, plain, plain, plain, gzipped, gzipped_badly, gzipped_with_more, zipped)


def mutate(rng, content):
    """The file after one to three mutations, packed or not, and what was done to it."""
    ways = [WAYS[rng.integers(len(WAYS))] for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    for way in ways:
        content = way(rng, content or b" ")
    packing = PACKINGS[rng.integers(len(PACKINGS))]
    return packing(rng, content), "+".join(way.__name__ for way in (*ways, packing))
