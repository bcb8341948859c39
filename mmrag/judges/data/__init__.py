"""Parameters of the built-in judge as data files; see CARD.md. A package so that it is shipped."""
