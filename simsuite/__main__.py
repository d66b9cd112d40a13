"""``python -m simsuite``."""

from simsuite.cli import main

main()
