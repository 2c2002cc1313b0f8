"""Does jobs one after the other."""


def work(jobs):
    """Run each job; the results of those that succeeded, by name."""
    results = {}
    for name, job in jobs.items():
        print("starting", name)
        try:
            results[name] = job()
        except Exception as error:
            print("failed:", error)
    print("finished")
    return results
