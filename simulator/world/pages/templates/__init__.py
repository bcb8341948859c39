"""Web pages about a world: composed from facts, rendered as HTML, labelled for grounding."""
