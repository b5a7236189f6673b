"""Settings of Sphinx: ``make docs`` builds the site into ``docs/_build``, without network.

The pages are Markdown (MyST). Formulas are plain text, so that no script has to be loaded. The
pages about functions come from the docstrings, the gallery from ``examples/``; both are
written into ``docs/_generated`` at each build. ``GALLERY=1`` (``make docs-full``) also runs the
examples and shows what they print and draw.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import site_check  # noqa: E402
import site_gallery  # noqa: E402
import site_pages  # noqa: E402

import geared_dynamics  # noqa: E402

project = "geared_dynamics"
author = "geared_dynamics maintainers"
copyright = "geared_dynamics maintainers, Apache-2.0"
release = version = geared_dynamics.__version__

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery",
]  # fmt: skip
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header"]  # a page may begin its sections below the second level
nitpicky = False

autodoc_typehints = "none"  # the docstrings state shapes and units
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_attr_annotations = False

sphinx_gallery_conf = site_gallery.settings(run=os.environ.get("GALLERY") == "1")

html_theme = "furo"
html_title = "geared_dynamics"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: object) -> None:
    """Write the generated pages, and read docstrings as plain text."""
    site_pages.write(HERE / "_generated")
    app.connect("autodoc-process-docstring", site_pages.plain, priority=400)  # type: ignore[attr-defined]
    app.connect("autodoc-skip-member", site_pages.left_out)  # type: ignore[attr-defined]
    app.connect("source-read", site_pages.titled)  # type: ignore[attr-defined]
    app.connect("html-page-context", site_pages.breakable)  # type: ignore[attr-defined]
    app.connect("build-finished", site_check.check)  # type: ignore[attr-defined]
