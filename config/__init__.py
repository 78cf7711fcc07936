"""Settings, the Celery application, and the modules that every app may use.

Nothing is imported here, so that the process of a sandbox starts quickly.
"""
