"""The door for the shell: read a file, make one public call, write."""
