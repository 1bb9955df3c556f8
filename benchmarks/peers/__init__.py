"""How near and how fast are other differentially private synthesizers?"""
