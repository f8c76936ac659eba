"""The session of one person, which every tab follows, its past races, and the start of a race."""
