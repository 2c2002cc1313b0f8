"""TypeScript and JavaScript in the sandbox: Deno with no permission at all, inside the same walls as Python."""
