"""Pure functions of scenes."""
