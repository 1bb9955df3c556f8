"""From one notion of privacy to another, and textbook composition: arithmetic on numbers."""
