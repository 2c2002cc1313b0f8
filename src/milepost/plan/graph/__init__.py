"""Tasks as a graph: what comes after what, what may start now."""
