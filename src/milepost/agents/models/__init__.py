"""Language models: asked, asked again, priced, recorded."""
