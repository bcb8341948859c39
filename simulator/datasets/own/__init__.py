"""Users' own data: lines, tables and albums; a message names line, field and cure."""
