"""Are the default models right: margins, flags, quality on a known survey?"""
