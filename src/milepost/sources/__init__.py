"""What source files and manifests say: what a module is called, what it imports, what a project needs. Pure."""
