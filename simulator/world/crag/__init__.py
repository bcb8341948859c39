"""A fictional world in CRAG's form: a stage (films, songs, shares, games), a KG, questions."""
