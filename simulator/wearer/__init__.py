"""The live wearer: a program over what is true and what is in view, which answers back."""
