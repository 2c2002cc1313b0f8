import inspect

import pytest
from invoice import total
from quote import quotes
from rates import convert
from refund import refund


def test_the_currencies_are_named():
    kinds = {name: parameter.kind.name for name, parameter in inspect.signature(convert).parameters.items()}
    assert kinds == {"amount": "POSITIONAL_OR_KEYWORD", "source": "KEYWORD_ONLY", "target": "KEYWORD_ONLY"}


def test_any_pair_works():
    assert convert(12, source="USD", target="GBP") == 9.0


def test_unknown_currencies_are_refused():
    with pytest.raises(KeyError):
        convert(1, source="EUR", target="XXX")


def test_the_callers_go_on():
    assert (total([9], "USD"), refund(10, "USD"), quotes(12)["GBP"]) == (10.0, 9.0, 10.0)
