"""Programs that checks run in the sandbox: linters, type checkers, parsers, imports."""
