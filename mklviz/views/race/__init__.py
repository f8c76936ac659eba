"""The race on the screen: its curves, its table, and the cards that appear when it has ended."""
