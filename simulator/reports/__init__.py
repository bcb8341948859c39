"""Reports: how an assistant fares, and how it breaks when the picture gets worse.

`make_report` turns runs into a folder with one self-contained page, its data, tables and figures;
`compare_runs` sets runs of the same sessions against each other. Neither asks an agent anything.
"""
