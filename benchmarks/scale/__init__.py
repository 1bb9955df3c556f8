"""How much memory, time and disk does a table take that does not fit into memory?"""
