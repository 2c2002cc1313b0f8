"""Numbers as the Romans wrote them."""

SIGNS = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)


def write(number):
    """The number in signs, a smaller one before a larger taken away."""
    if not 1 <= number <= 3999:
        raise ValueError(f"the Romans had no way to write {number}")
    text = ""
    for value, sign in SIGNS:
        count, number = divmod(number, value)
        text += sign * count
    return text
