"""Checks of this installation against requirements of OWASP ASVS 5 (`manage.py check_security`)."""
