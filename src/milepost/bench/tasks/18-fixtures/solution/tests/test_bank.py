import pytest


def test_deposit(account):
    account.deposit(5)
    assert account.balance == 105


def test_nothing_is_no_deposit(account):
    with pytest.raises(ValueError):
        account.deposit(0)


def test_withdraw(account):
    account.withdraw(40)
    assert account.balance == 60


def test_no_more_than_there_is(account):
    with pytest.raises(ValueError):
        account.withdraw(101)
    assert account.balance == 100
