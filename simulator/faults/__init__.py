"""What goes wrong around an assistant: its search, its model, the picture, the wearer's network."""
