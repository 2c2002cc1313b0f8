"""The words of Milepost as frozen values, and the pure decisions over them."""
