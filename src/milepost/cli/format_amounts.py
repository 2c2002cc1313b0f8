"""How amounts of money, tokens and time are put for people."""

from __future__ import annotations


def usd(amount: float) -> str:
    """`$0.42`, and `$0.0042` where cents would tell too little."""
    digits = 2 if amount >= 0.095 or amount < 0.00005 or round(amount, 2) == round(amount, 4) else 4
    return f"${amount:.{digits}f}"


def thousands(count: int) -> str:
    """`950`, `20.1k`, `1.5M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + sign
    return str(count)


def minutes(seconds: float) -> str:
    """`40 s`, `9 min`, `2 h 05 min`: as exact as an estimate is."""
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 60 else f"{whole // 60} h {whole % 60:02d} min"


def of(taken: str, bound: str | None) -> str:
    """`$0.20 of $5.00`, or what was taken alone where there is no bound."""
    return taken if bound is None else f"{taken} of {bound}"
