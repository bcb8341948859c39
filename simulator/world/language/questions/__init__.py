"""Questions about a world: templates from a small grammar, answers from programs over the facts."""
