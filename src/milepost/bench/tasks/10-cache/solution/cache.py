"""Results of functions, kept for a while."""

import functools
import time
from collections import OrderedDict


def cached(seconds, most=128, clock=time.monotonic):
    """A decorator that keeps up to `most` results, each for so many seconds."""

    def decorate(function):
        kept = OrderedDict()

        @functools.wraps(function)
        def call(*args, **kwargs):
            key = (args, tuple(sorted(kwargs.items())))
            now = clock()
            if key in kept and now - kept[key][0] < seconds:
                kept.move_to_end(key)
                return kept[key][1]
            result = function(*args, **kwargs)
            kept[key] = (now, result)
            kept.move_to_end(key)
            if len(kept) > most:
                kept.popitem(last=False)
            return result

        call.cache_clear = kept.clear
        return call

    return decorate
