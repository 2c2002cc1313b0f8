"""Several projects planned as one: what their manifests say of them, who depends on whom, and one plan for all."""
