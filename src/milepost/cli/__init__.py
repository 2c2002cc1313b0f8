"""The command line: translate, call the library, translate back."""
