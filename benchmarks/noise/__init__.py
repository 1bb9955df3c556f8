"""What does noise in the answers cost: coverage, nearness, time?"""
