"""What people say of a run's replies: kept beside the judge's verdicts, and what it comes to."""
