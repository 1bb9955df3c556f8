"""Plan files: settings as TOML."""
