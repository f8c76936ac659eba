"""Vote: which party does a member of the House belong to (democrat, +1; republican, -1), judged by 16 votes in 1984?

232 members who took a position every time. A vote for is 1, a vote against is 0.
"""

from __future__ import annotations

from ._table import KEEL, table_info

INFO = table_info(
    "vote",
    "Congressional Voting Records",
    (232, 16),
    ("republican", "democrat"),
    by="Congressional Quarterly Almanac (1985)",
    doi="10.24432/C5C01P",
    sha256="41b5dd6cea3ada446697e242cc64cd4b0bbeffcebe9917bd57d93151dcf24b08",
    source=KEEL,
    notes=("203 of the 435 members did not take a position on every vote and are left out.",),
)
load = INFO.load
