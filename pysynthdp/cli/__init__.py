"""The door for the shell: one file a command, which reads a file, makes one public call, writes.

Help and slips load none of numpy, pandas, scipy, pyarrow, formulaic and statsmodels. So the public API is
named as ``sdp.look``, which loads it when a command runs, and what is not public and stands on these is
imported in the function that calls it; in this room it needs not be seldom used for that.
"""
