"""The demo benchmark: moving shapes, captions about them, systems and simulated people.

Pure building blocks, all but `people`; the `demo` command ties them together.
Bottom up: shapes < wording < captions < benchmark < render, systems, annotators < files.
"""
