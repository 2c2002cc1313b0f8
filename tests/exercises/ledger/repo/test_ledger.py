import unittest

from ledger import Ledger, Unbalanced


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.ledger = Ledger()

    def test_a_booking_moves_money(self):
        self.ledger.post([("cash", -500), ("rent", 500)])
        self.assertEqual(self.ledger.balance("rent"), 500)

    def test_an_unbalanced_booking_is_refused(self):
        with self.assertRaises(Unbalanced):
            self.ledger.post([("cash", -500), ("rent", 400)])

    def test_a_refused_booking_leaves_no_trace(self):
        try:
            self.ledger.post(entry for entry in [("cash", -500), ("rent", 400)])
        except Unbalanced:
            pass
        self.assertEqual(self.ledger.balance("cash"), 0)


if __name__ == "__main__":
    unittest.main()
