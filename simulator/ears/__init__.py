"""Questions asked by voice: who says them, what is added on the way, and what a recogniser hears."""
