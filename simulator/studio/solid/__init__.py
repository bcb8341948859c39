"""Things in metres: meshes, materials and prints, and the light that falls on them."""
