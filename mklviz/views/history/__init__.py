"""The history of races: a list of any length as one component of the page, and what stands in its rows."""
