"""The race on the screen: its curves, its table, and what can be asked when it has ended."""
