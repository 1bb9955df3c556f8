"""How a table can be protected, a file or folder each: not at all, by the draw, by noise in the answers.

What a protection is, is declared in ``pysynthdp/plan/protection.py``; nobody outside this room names one.
"""
