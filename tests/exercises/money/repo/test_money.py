import pytest

from money import Money


def test_it_reads_as_people_write_it():
    assert str(Money(1005)) == "10.05 EUR"


class TestEquality:
    def test_the_same_amount_is_equal(self):
        assert Money(5) == Money(5)

    def test_another_currency_is_not(self):
        assert Money(5) != Money(5, "USD")

    def test_a_number_is_not_money(self):
        assert not Money(5) == 5

    def test_equal_ones_are_one_in_a_set(self):
        assert len({Money(5), Money(5), Money(6)}) == 2


def test_amounts_add_up():
    assert str(Money(150) + Money(275)) == "4.25 EUR"


def test_currencies_do_not_add_up():
    with pytest.raises(ValueError):
        Money(1) + Money(1, "USD")
