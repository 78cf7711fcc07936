"""The audit log: who did which administrative act, to what, when and from where.

Services call `services.record` in their transaction. This app imports no other app. Each app that
builds on it defines its own acts (see `acts`).
"""
