"""The library: everything that the command line does, as typed calls; a module a family."""
