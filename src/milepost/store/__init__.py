"""Where rows are kept: SQLite in a file, or PostgreSQL for many machines."""
