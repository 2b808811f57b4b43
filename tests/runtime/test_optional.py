"""Optional libraries: the error names the extra, unless the library itself is broken."""

import pytest

from hietan._runtime.optional import import_optional


def test_a_library_broken_inside_speaks_for_itself(monkeypatch, tmp_path):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all"):
        import_optional("half_there", extra="frames", purpose="a test")
