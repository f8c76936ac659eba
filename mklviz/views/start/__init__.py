"""Start, Lessons and Claims, which stand in the HTML before anything is loaded, and the way to the dashboard."""
