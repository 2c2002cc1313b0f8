from server import address


def test_the_address():
    assert address() == "localhost:8000"
