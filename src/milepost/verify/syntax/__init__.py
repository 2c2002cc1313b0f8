"""Python and JavaScript as syntax trees."""
