"""Tables of databases, read in one snapshot, with types of the catalogue and in an order of their own."""
