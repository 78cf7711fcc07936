"""The demo benchmark: moving shapes, captions about them, systems and simulated annotators.

All modules except `people` and `guideline` are pure. The `demo` command combines them.
Bottom up: shapes < wording < captions < benchmark < render, systems, annotators < files.
"""
