"""What R may ask for: each verb takes plain values and gives plain values or an R value."""
