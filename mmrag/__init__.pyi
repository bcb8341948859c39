# What `mmrag.NAME` is, for editors and type checkers; at run time it is found by entry point.
from simulator import Comparison as Comparison
from simulator import Degrade as Degrade
from simulator import Measured as Measured
from simulator import MmragError as MmragError
from simulator import Query as Query
from simulator import Reply as Reply
from simulator import Run as Run
from simulator import Scores as Scores
from simulator import WearerEnv as WearerEnv
from simulator import degrade as degrade
from simulator import evaluate as evaluate
from simulator import load_run as load_run
