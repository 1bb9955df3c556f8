"""Is the code laid out as drawn: calls, walks, sizes?"""
