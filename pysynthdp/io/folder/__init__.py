"""Release folders: writing, reading, and what agrees in one."""
