"""From a request to a folder on disk: rows, tables, the manifest, nothing half done."""
