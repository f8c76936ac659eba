"""What the address of a page says: a recipe, and what is hidden or locked."""

__all__ = ["FOLLOW", "RACE_KEY"]

RACE_KEY, FOLLOW = "race", "follow"  # words of the address that name a page, for the server's front process as well
