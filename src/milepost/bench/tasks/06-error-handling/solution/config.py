"""The configuration of a server."""

import json


class ConfigError(Exception):
    """A configuration that cannot be used, and why."""


def load(path):
    """The configuration in a file, as a dictionary."""
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ConfigError(f"{path} holds no object")
    name, port = config.get("name"), config.get("port", 80)
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{path}: name is missing")
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
        raise ConfigError(f"{path}: port must be a number from 1 to 65535, not {port!r}")
    return {**config, "port": port}
