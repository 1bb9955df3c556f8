"""Do pooled 95 % intervals cover, and do joint tests keep their size?"""
