"""Two searches that an assistant calls: the image knowledge graph and the web.

`mmrag.search.index.open_index` opens what `mmrag index build` wrote; `mmrag.search.memory` holds
small searches in memory for tests and examples; `mmrag.search.public` speaks the public package's
dictionaries.
"""
