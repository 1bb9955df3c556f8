"""What a fitted model of another library says: estimates, covariance, degrees of freedom."""
