"""Configuration of the documentation; it builds without a network and with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from figures import FigureScraper
from names import filenames, listed, reference
from usage import FOLDER

import sdpdr

project = "sdpdr"
author = "The sdpdr developers"
copyright = "the sdpdr developers, Apache-2.0"
version = release = sdpdr.__version__

extensions = [
    "mathml",
    "moving",
    "backlinks",
    "citations",
    "drawn",
    "facts",
    "lessons",
    "links",
    "problems",
    "returned",
    "studies",
    "thumbnails",
    "usage",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_reredirects",
    "myst_parser",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "gallery", "course", "tables"]
default_role = "py:obj"
highlight_language = "python"
pygments_style = "tango"

autosummary_generate = True
# Classes beside functions (Plan, plan) would overwrite their pages where case does not count.
autosummary_filename_map = filenames(listed(reference()))
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "sdpdr"
html_static_path = ["_static"]
html_css_files = ["sdpdr.css"]
html_js_files = [("sidebar.js", {"loading_method": "defer"})]
html_copy_source = False
# Without it the theme complains in the console of every reader.
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    # A page lists the pages of its own group only, so that none is heavy by its sidebar.
    "collapse_navigation": True,
    "show_nav_level": 1,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# All other pages have the theme's sidebar, which lists the pages of their entry.
html_sidebars = {
    "index": [],
    "search": [],
    "references": [],
    "changelog": [],
    "api/**": [],
    "gallery_output/**": [],
    "_modules/**": [],
}

# Prompts and output are not copied.
copybutton_exclude = ".linenos, .gp, .go"

# Pages that have moved, by their old address.
redirects = {
    "guide/cards": "../howto/add_problem.html",
    "guide/from_sklearn": "scikit_learn.html",
    "guide/trust": "../howto/send_proof.html#trust",
    "howto/index": "../guide/index.html",
}

FAMILIES = ("unfold", "labels", "metric", "regress", "factor")
sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "course"],
    "gallery_dirs": ["gallery_output", "course_output"],
    "filename_pattern": r"/(plot|lesson)_",
    "subsection_order": [f"gallery/{name}" for name in FAMILIES],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    # What a plotting function happens to return is no output.
    "capture_repr": ("_repr_html_",),
    "write_computation_times": False,
    "image_scrapers": (FigureScraper(),),
    "backreferences_dir": FOLDER,
    "doc_module": ("sdpdr",),
    "minigallery_sort_order": "usage.order",
}
