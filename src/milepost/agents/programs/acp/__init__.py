"""Programs that speak the Agent Client Protocol."""
