"""Where files come from: when, where, by which command, with which versions and which commit of the scenario's
repository they were made.

None of this has a part in what is computed, nor in which run a directory holds. Of the environment nothing is kept but
the name of the host; the command is kept as it was typed.
"""

from simsuite.provenance.history import HISTORY_BYTES, appended
from simsuite.provenance.origin import ATTRIBUTES, Origin, looking, now, origin_of

__all__ = ["ATTRIBUTES", "HISTORY_BYTES", "Origin", "appended", "looking", "now", "origin_of"]
