"""What every server of ours over HTTP does alike: where it listens, how it ends, how it reads a request."""
