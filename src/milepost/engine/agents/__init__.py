"""Agents and models, made as the settings say."""
