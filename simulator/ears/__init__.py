"""Questions asked by voice: who says them, what noise is added, and what a recogniser hears."""
