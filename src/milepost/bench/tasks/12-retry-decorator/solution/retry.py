"""Calls that are made again when they fail."""

import functools
import time


def retry(times, on=Exception, wait_s=0.1, factor=2, sleep=time.sleep):
    """A decorator that makes a call up to `times` times."""
    if times < 1:
        raise ValueError(f"a call is made at least once, not {times} times")

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            pause = wait_s
            for _ in range(times - 1):
                try:
                    return function(*args, **kwargs)
                except on:
                    sleep(pause)
                    pause *= factor
            return function(*args, **kwargs)

        return call

    return decorate
