"""What runs beside the code under test, in its interpreter: the standard library only, Python 3.8 and later."""
