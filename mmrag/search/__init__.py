"""Two searches that an assistant calls: the image knowledge graph and the web.

`index.opening.open_index` opens what `mmrag index build` wrote; `memory` holds small searches in
memory for tests and examples; `serving.public_package` speaks the public package's dictionaries.
"""
