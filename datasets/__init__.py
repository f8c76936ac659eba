"""Data sets, one file each; this package stands on numpy alone."""
