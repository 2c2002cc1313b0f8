"""A server, to be configured."""

HOST = "localhost"
PORT = 8000


def address():
    return f"{HOST}:{PORT}"
