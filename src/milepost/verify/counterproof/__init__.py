"""Whether tests that pass could have failed: with the work taken out, with other expectations, with mutants."""
