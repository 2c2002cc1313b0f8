from validators import between, required, validate


def test_messages_come_by_field():
    rules = {"name": [required], "age": [required, between(0, 150)]}
    assert validate({"name": "Ada", "age": 36}, rules) == {}
    assert set(validate({"age": 200}, rules)) == {"name", "age"}
