from shop import Order, Product, discounted


def test_orders_add_up():
    order = Order()
    order.add(Product("tea", 350), 2)
    assert (order.total(), order.total(10)) == (700, 630)


def test_discounts():
    assert discounted(Product("tea", 100), 15) == Product("tea", 85)
