"""What moves while solvers run, and the cards of a race."""
