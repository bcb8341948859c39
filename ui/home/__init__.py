"""Behind the Home page: the board of runs, their summaries, notes, and starting a run."""
