"""What the address of a page says: a recipe, and what is hidden or locked."""
