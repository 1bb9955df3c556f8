"""A guarantee by noise in the answers: paid once at the fit, draws are free."""
