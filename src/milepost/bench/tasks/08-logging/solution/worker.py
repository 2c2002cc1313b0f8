"""Does jobs one after the other."""

import logging

log = logging.getLogger("worker")


def work(jobs):
    """Run each job; the results of those that succeeded, by name."""
    results = {}
    for name, job in jobs.items():
        log.debug("%s starts", name)
        try:
            results[name] = job()
        except Exception:
            log.exception("%s failed", name)
        else:
            log.info("%s is done", name)
    log.info("%d done, %d failed", len(results), len(jobs) - len(results))
    return results
