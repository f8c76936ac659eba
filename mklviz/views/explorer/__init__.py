"""The dashboard around the tabs: header, page, what an address asks for, and pages that follow it."""
