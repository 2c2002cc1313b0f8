"""Milepost turns a ROADMAP.md into verified commits."""
