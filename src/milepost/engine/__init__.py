"""The durable run."""
