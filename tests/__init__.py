import os

# The tests name the cookies. A site on this machine would add a suffix for its HEARTH_HOME.
os.environ.setdefault("COOKIE_SUFFIX", "")
