"""What defines a race, as values: the experiment, its words, and how a problem is prepared from it."""
