"""Small things that lie about: none of a kind that is asked about, none with a name.

Every function takes a stream of draws and gives a `Thing` that stands on z = 0. `tabletop.py` for
kitchens and dining, this one for the rest indoors.
"""
