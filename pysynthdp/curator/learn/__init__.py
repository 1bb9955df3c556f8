"""What a fit completes of its plan before models are fitted: predictors, terms; never under a guarantee."""
