from invoice import total
from quote import quotes
from refund import refund


def test_totals():
    assert total([10, 8], "USD") == 20.0


def test_refunds():
    assert refund(10, "GBP") == 12.0


def test_quotes():
    assert quotes(9) == {"EUR": 9.0, "USD": 10.0, "GBP": 7.5}
