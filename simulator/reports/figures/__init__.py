"""The figures of a report, each part a module: slices, curves, comparisons, failures, costs."""
