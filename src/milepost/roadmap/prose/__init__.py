"""Tasks that a model found in prose, checked against the document."""
