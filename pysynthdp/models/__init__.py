"""Column models, one file each; a new file is found by the registry."""
