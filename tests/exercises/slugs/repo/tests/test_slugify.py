from slugs import slugify


def test_signs_become_one_dash():
    assert slugify("Rock & Roll!") == "rock-roll"


def test_accents_are_dropped():
    assert slugify("Crème brûlée") == "creme-brulee"
