"""The durable run: from a request to the last milepost."""
