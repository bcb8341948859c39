"""Pictures on disk: folders to degrade, sources, samples, and the sheet of severities."""
