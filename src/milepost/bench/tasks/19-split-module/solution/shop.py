"""A shop."""

from orders import Order
from products import Product, discounted

__all__ = ["Order", "Product", "discounted"]
