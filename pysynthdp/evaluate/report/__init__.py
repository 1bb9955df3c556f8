"""For the board (INTERNAL) and for the public (of copies alone): one document, several formats."""
