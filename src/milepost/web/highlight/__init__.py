"""Colours of source code, made in a process apart."""
