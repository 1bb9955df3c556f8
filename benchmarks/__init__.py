"""Studies and measurements, in folders by question; run from the root of the repository by ``python -m``."""
