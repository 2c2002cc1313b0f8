"""The report as one page that needs nothing else: no request, no code of others, no network."""
