"""The pages, one module each; they hold layout and wiring, the rows come from viewmodel."""
