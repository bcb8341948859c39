from planted_runs import sweep, sweep_report

__all__ = ["sweep", "sweep_report"]
