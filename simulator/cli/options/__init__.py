"""Options that several commands share, each made from the setting that it sets."""
