"""Manifests and lock files of Python, JavaScript, Rust and Go: what they say, and one more dependency in them. Pure."""
