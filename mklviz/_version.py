"""The version, which stands below everything so that everybody may say it."""

__version__ = "0.2.0"
