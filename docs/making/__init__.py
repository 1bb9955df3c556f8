"""How the site is made of the pages, the notebooks and the docstrings of the project."""
