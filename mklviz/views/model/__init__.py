"""What was learned, in numbers: weights by family and feature, Gram matrices, decisions and how right they are."""
