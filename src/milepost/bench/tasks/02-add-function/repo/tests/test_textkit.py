from textkit import squeeze


def test_spaces_are_squeezed():
    assert squeeze(" a   b ") == "a b"
