"""An index folder: built, opened, checked, exchanged with the public package."""
