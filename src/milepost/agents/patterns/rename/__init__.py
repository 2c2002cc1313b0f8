"""The pattern rename_symbol: another name for a function, class or variable wherever it is used."""
