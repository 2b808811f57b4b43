"""The documentation site: the pages of this folder, the gallery of examples and the reference (`make docs`)."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from docutils.nodes import SkipNode, document, entry, literal
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers import TextLexer
from sphinx.addnodes import pending_xref
from sphinx.domains.python import PyObject
from sphinx.util.inspect import stringify_signature

import hietan

mpl.use("agg")
warnings.filterwarnings("ignore", category=hietan.HierarchyWarning)

project = "hietan"
author = "The hietan developers"
project_copyright = author
version = release = hietan.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
root_doc = "index"
exclude_patterns = ["examples", "_templates"]
templates_path = ["_templates"]

# Pages. Markdown is written so that it also reads well where no site is built.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
# Blocks of tables and of results have nothing to be coloured.
highlight_language = "none"
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Reference. Text in single backticks is a link where it is the name of something, and code elsewhere.
default_role = "py:obj"
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints_format = "short"
# As they are written: not what "ArrayLike" stands for, nor all addresses in the default of an argument.
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    # What scikit-learn and Python define for all their classes is described there.
    "inherited-members": "ClassifierMixin,TransformerMixin,SelectorMixin,MetaEstimatorMixin,BaseEstimator,"
    "tuple,str,dict,Exception",
}
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
strip_signature_backslash = True  # names such as classes_ keep their last character
toc_object_entries = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": False,  # with warnings as errors, a failed example still fails the build
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 5,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": None,
}

# Formulas are MathML, which browsers draw by themselves: the site needs no script and no network for them.
html_math_renderer = "mathml"

html_context = {"default_mode": "auto"}
html_theme = "pydata_sphinx_theme"
html_title = f"hietan {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": "hietan"},
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
html_sidebars = {"index": []}


def _skip_member(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what other libraries add to a class: their own pages describe it."""
    text = getattr(member, "__doc__", None) or ""
    module = getattr(member, "__module__", None) or ""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    if text.startswith("Alias for field number") or module.startswith("sklearn."):
        return True
    return None


_ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\]]*)\]\]")
_NOT_PYTHON = re.compile(r"<(?:[^<>]|<[^<>]*>)*>")


def _own_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, str] | None:
    """What is written in the source, as far as it can be known.

    Where a base class has a `__new__` that passes everything on, the parameters are those of `__init__`. A default that
    is not Python, such as `<factory>`, would hide the links of all types. Arrays are called by their short name.
    """
    if what == "class" and (signature or "").startswith("(*arguments"):
        shown = inspect.signature(obj)
        return stringify_signature(shown, show_annotation=False, show_return_annotation=False), ""
    if signature is None:
        return None

    def as_written(text: str) -> str:
        return _ARRAY.sub(r"NDArray[\1]", _NOT_PYTHON.sub("...", text))

    return as_written(signature), as_written(returned or "")


def _unlink_words(app: Any, doctree: document) -> None:
    """Make plain text of words in types that only happen to be names, as in "shape (n_rows, n_features)"."""
    for node in list(doctree.findall(pending_xref)):
        name = node.get("reftarget", "").rpartition(".")[2]
        if node.get("refdomain") == "py" and node.get("refspecific") and not name[:1].isupper():
            node.replace_self(node.children)


def _mark_for_line_breaks(app: Any, doctree: document) -> None:
    """Mark code that must break on a narrow screen, and figures in tables that must not (_static/site.css)."""
    for node in doctree.findall(literal):
        if max(map(len, node.astext().split()), default=0) > 26:
            node["classes"].append("long")
    for node in doctree.findall(entry):
        if "text-right" in node["classes"] and len(node.astext()) <= 16:
            node["classes"].append("short")


def _take_over_pages(app: Any, config: Any) -> None:
    """Make pages of files that are next to the README; their links lead to the pages of the site."""
    here = Path(__file__).parent
    (here / "generated").mkdir(exist_ok=True)
    for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG"):
        text = (here.parent / f"{name}.md").read_text(encoding="utf-8")
        for other in ("CONTRIBUTING", "SECURITY", "CHANGELOG"):
            text = text.replace(f"]({other}.md", f"]({other.lower()}.md")
        page = here / "generated" / f"{name.lower()}.md"
        page.write_text(text.replace("](docs/", "](../"), encoding="utf-8")


def _draw_formula(translator: Any, node: Any) -> None:
    """Write a formula within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _draw_displayed_formula(translator: Any, node: Any) -> None:
    """Write a formula on its own line."""
    translator.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def setup(app: Any) -> None:
    """Called by sphinx."""
    app.add_html_math_renderer("mathml", (_draw_formula, None), (_draw_displayed_formula, None))
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-signature", _own_signature)
    app.connect("config-inited", _take_over_pages)
    app.connect("autodoc-skip-member", _skip_member)
    app.connect("doctree-read", _unlink_words)
    app.connect("doctree-read", _mark_for_line_breaks)
    app.add_lexer("csv", TextLexer)
