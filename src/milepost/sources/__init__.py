"""What source files say of each other: what a module is called, what it imports, where that is. Pure."""
