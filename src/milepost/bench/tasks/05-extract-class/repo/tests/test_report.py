from report import report


def test_columns_line_up():
    assert report([("Ada", 36), ("Grace", 85)]).splitlines() == [
        "name   age",
        "-----  ---",
        "Ada    36 ",
        "Grace  85 ",
    ]
