"""Milepost as a server of the Model Context Protocol: what it offers, and how it is reached."""
