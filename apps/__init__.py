"""The apps served by Panel."""
