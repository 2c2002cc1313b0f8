from roman.numerals import write

__all__ = ["write"]
