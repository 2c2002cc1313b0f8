"""The tamper guard: what a change did to tests, to their settings, or to the program that runs them."""
