"""Settings, the Celery application, and the modules that every app may use.

This file imports nothing, so that the processes of `hearth.shared.sandbox` start quickly.
"""
