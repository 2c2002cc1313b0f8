"""Text in columns."""


class Table:
    """Rows under headings."""

    def __init__(self, headings):
        self.headings = [str(word) for word in headings]
        self.rows = []

    def add(self, row):
        words = [str(word) for word in row]
        if len(words) != len(self.headings):
            raise ValueError(f"a row has {len(self.headings)} columns, not {len(words)}")
        self.rows.append(words)

    def render(self):
        widths = [max(len(row[at]) for row in [self.headings, *self.rows]) for at in range(len(self.headings))]
        ruler = ["-" * width for width in widths]
        return "\n".join(
            "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True))
            for row in (self.headings, ruler, *self.rows)
        )
