"""The test runners, one a module: each runs the suites of its kind and reads what the tool itself reports."""
