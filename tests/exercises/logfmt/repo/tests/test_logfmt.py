import pytest

from logfmt import parse


def test_plain_pairs(line):
    assert parse(line) == {"level": "info", "took": "3ms"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('msg="all is well"', "all is well"),
        (r'msg="say \"hi\""', 'say "hi"'),
        (r'msg="back\\slash"', "back\\slash"),
        ('msg=""', ""),
        ("msg=a=b", "a=b"),
    ],
)
def test_quotes(text, value):
    assert parse(text) == {"msg": value}


def test_a_key_alone_is_true():
    assert parse("cached took=1") == {"cached": True, "took": "1"}


def test_an_unclosed_quote_is_refused():
    with pytest.raises(ValueError):
        parse('msg="all is')
