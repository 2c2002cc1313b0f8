"""The report of a run: what was done with which proof, what failed and why, what waits for a person, what it cost."""
