"""The replay agent: attempts that were recorded, or written down, beforehand."""
