"""The terminals that commands of a run go through, one around the other."""
