"""What is computed of a race and shown of it, without a screen: maps, steps, learned models, stop rules, knobs."""
