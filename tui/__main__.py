"""`python -m tui` is the command `tui`."""

from __future__ import annotations

import sys

from tui.cli import main

sys.exit(main())
