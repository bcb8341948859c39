"""How people ask and how pages say it: wordings by many authors, as data."""
