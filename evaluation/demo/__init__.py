"""The demo benchmark: moving shapes, captions about them, systems and simulated annotators.

All modules except `people`, `guideline`, `phrasings`, `sequences` and `estimates` work without
Django. The `demo` command combines them. Each module imports only modules to its left: shapes <
wording, render < captions < benchmark, explaining, reading < gold, systems, annotators, noise,
proxies < files, people, guideline < phrasings, sequences < estimates.
"""
