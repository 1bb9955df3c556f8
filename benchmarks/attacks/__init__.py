"""Can a record be found: in a level, at the end of a range, between neighbours?"""
