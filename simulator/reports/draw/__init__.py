"""A report as one HTML page, charts, tables and Markdown."""
