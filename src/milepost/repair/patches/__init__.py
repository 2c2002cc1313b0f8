"""Candidate changes as diffs: found, applied, recorded."""
