"""What the finished members of a sweep say together; numpy and scipy alone, and every draw is seeded."""
