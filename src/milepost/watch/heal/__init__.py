"""What is done about a release that is not well."""
