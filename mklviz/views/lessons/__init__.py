"""Lessons on the page: the picture that shows the answer of each, small ones of their recordings, and the stage."""
