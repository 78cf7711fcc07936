"""The settings of the tests, and of the web servers and workers that they start."""

from config.settings import *  # noqa: F403
from config.settings import BASE_DIR, STATICFILES_DIRS, TEMPLATES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast
# The files of the example of a question. Only its test has the question itself.
EXAMPLE = BASE_DIR / "tests/examples/sentence"
STATICFILES_DIRS = [*STATICFILES_DIRS, EXAMPLE / "static"]
TEMPLATES = [{**TEMPLATES[0], "DIRS": [*TEMPLATES[0]["DIRS"], EXAMPLE / "templates"]}]
