"""What fills a place: furniture, fittings, clutter, plants and the street."""
