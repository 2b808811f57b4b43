"""Files written whole or not at all, names that every file system takes, neutral tables, forged archives."""

from hietan._io.archives import ArchiveReader, write_archive
from hietan._io.files import (
    TEMPORARY,
    atomic_write,
    find_same_but_for_case,
    ignores_case,
    lock_file,
    replacing,
    safe_file_name,
    temporary_directory,
    to_json,
)
from hietan._io.tables import DANGEROUS, comment_line, csv_text, neutralise_text, read_csv, restore_text

__all__ = [
    "DANGEROUS",
    "TEMPORARY",
    "ArchiveReader",
    "atomic_write",
    "comment_line",
    "csv_text",
    "find_same_but_for_case",
    "ignores_case",
    "lock_file",
    "neutralise_text",
    "read_csv",
    "replacing",
    "restore_text",
    "safe_file_name",
    "temporary_directory",
    "to_json",
    "write_archive",
]
