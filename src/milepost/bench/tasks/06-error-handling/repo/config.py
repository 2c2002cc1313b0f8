"""The configuration of a server."""

import json


def load(path):
    """The configuration in a file, as a dictionary."""
    with open(path) as file:
        config = json.load(file)
    config["port"] = int(config.get("port", 80))
    return config
