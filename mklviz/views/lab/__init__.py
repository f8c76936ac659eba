"""What the laboratory tabs show, in numbers and sentences: knobs to turn, and rules to stop by."""
