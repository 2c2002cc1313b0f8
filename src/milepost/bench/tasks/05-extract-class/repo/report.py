"""A report on people."""


def report(people):
    """Names and ages, in columns."""
    headings = ["name", "age"]
    rows = [[str(name), str(age)] for name, age in people]
    widths = [max(len(row[at]) for row in [headings, *rows]) for at in range(len(headings))]
    lines = ["  ".join(word.ljust(width) for word, width in zip(headings, widths))]
    lines.append("  ".join("-" * width for width in widths))
    for row in rows:
        lines.append("  ".join(word.ljust(width) for word, width in zip(row, widths)))
    return "\n".join(lines)
