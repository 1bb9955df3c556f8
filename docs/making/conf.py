"""Settings of Sphinx; everything that a page loads lies beside it, as an intranet needs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from numpydoc.xref import DEFAULT_LINKS

import pysynthdp
from making.reference import PUBLIC, aliases

DEFAULT_LINKS.clear()  # to other libraries, whose inventories lie on the net

project = "pysynthdp"
author = "The pysynthdp authors"
project_copyright = author
version = release = pysynthdp.__version__
language = "en"

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
nitpicky = True
default_role = "code"
highlight_language = "none"  # what a program printed is no Python
smartquotes = False  # options begin with two hyphens
autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = aliases()
numpydoc_xref_ignore = "all"
python_maximum_signature_line_length = 72
add_module_names = False
toc_object_entries_show_parents = "hide"

nb_execution_mode = "off"  # notebooks are stored with what they show; a test runs them
nb_render_markdown_format = "myst"
myst_heading_anchors = 4
myst_links_external_new_tab = False
myst_enable_extensions: list[str] = []

html_theme = "pydata_sphinx_theme"
html_title = f"pysynthdp {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "pysynthdp"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"index": []}


def found_elsewhere(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Find what a docstring names without its module, as its reader types it: ``SyntheticRelease.open``."""
    if node.get("refdomain") != "py":
        return None
    python = env.get_domain("py")
    for module in PUBLIC:
        name = f"{module.__name__}.{node['reftarget']}"
        if name in python.objects:
            return python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], name, node, shown)
    return None


def plainer(*given: Any) -> tuple[str, str] | None:
    """Show a default that is made afresh, such as an empty mapping, without saying by what."""
    signature, returned = given[-2:]
    return (signature.replace("<factory>", "..."), returned) if signature else None


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx of what is not its own."""
    app.connect("autodoc-process-signature", plainer)
    app.connect("missing-reference", found_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
