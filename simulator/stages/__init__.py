"""Stages of truth: the same question with ever more of what it takes to answer it handed over."""
