"""``python -m mklviz``."""

import sys

from mklviz.cli import main

sys.exit(main())
