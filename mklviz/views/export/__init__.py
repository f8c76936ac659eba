"""A recorded race as one page that needs no server: numbers, a script and a style sheet in one HTML file."""
