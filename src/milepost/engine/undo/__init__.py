"""Taking mileposts and files back."""
