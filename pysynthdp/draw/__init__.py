"""From a fit to copies: the machine that draws them, and what they are tagged with."""
