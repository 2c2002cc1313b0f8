from geometry import distance, midpoint, scaled


def test_points():
    assert (distance((0, 0), (3, 4)), midpoint((0, 0), (2, 4)), scaled((1, 2))) == (5, (1, 2), (2, 4))
