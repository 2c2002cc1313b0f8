"""What the guard reads in JavaScript and TypeScript files."""
