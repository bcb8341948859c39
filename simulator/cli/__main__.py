"""`python -m simulator.cli`: the command where no script is on the path."""

from simulator.cli import main

main()
