"""``python -m pysynthdp``."""

from pysynthdp.cli import main

if __name__ == "__main__":
    main()
