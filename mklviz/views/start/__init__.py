"""The pages Start and Lessons, which stand in the HTML before anything is loaded, and the way to the dashboard."""
