"""What the program beside this folder is made of."""
