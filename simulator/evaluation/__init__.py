"""The application: from the names in a config to parts, runs and measured searches."""
