"""Other people's agents: programs that are started for an attempt and do it in their own way."""
