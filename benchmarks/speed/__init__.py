"""How much time and memory, as ratios in one run?"""
