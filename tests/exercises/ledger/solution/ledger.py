"""Accounts and what is booked on them."""

from collections import defaultdict


class Unbalanced(ValueError):
    """The entries of a booking do not add up to zero."""


class Ledger:
    def __init__(self):
        self.balances = defaultdict(int)

    def post(self, entries):
        """Book (account, cents) pairs that add up to zero."""
        entries = list(entries)
        if off := sum(cents for _, cents in entries):
            raise Unbalanced(f"off by {off}")
        for account, cents in entries:
            self.balances[account] += cents

    def balance(self, account):
        return self.balances[account]
