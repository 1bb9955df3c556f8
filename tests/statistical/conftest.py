"""Audits share the modules ``audit_*`` beside their tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
