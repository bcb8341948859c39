"""The pages, one module each; they hold layout and wiring, rows come from `ui/replay`."""
