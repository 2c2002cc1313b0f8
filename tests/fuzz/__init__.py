"""Random input for whatever reads what others wrote: `python -m tests.fuzz TARGET --minutes N`.

A finding is an exception that is not of the error tree, more than a few seconds of processor time, or more memory than
a reader may need. Findings are written to a folder as the input that caused them; each becomes a test.
"""
