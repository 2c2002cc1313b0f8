from slugs import slugify, unique


def test_the_second_of_a_kind_gets_a_number():
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a-2", "a-3"]


def test_a_number_that_is_taken_is_passed_over():
    assert unique(["a", "a", "a-2"]) == ["a", "a-3", "a-2"]


def test_titles_that_read_alike_end_up_apart():
    assert unique([slugify("Hello!"), slugify("hello")]) == ["hello", "hello-2"]
