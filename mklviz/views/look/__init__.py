"""How everything looks: colours, themes, cards."""
