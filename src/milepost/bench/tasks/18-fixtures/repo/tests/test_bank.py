import pytest
from bank import Account


def test_deposit():
    account = Account("Ada", 100)
    account.deposit(5)
    assert account.balance == 105


def test_nothing_is_no_deposit():
    account = Account("Ada", 100)
    with pytest.raises(ValueError):
        account.deposit(0)


def test_withdraw():
    account = Account("Ada", 100)
    account.withdraw(40)
    assert account.balance == 60


def test_no_more_than_there_is():
    account = Account("Ada", 100)
    with pytest.raises(ValueError):
        account.withdraw(101)
    assert account.balance == 100
