"""Deploying: from a proven commit to a release that is live, and back."""
