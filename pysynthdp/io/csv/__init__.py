"""CSV files, as declared cell by cell or by what the cells say."""
