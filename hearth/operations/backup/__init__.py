"""Backups: one archive with the database, the media, the label sets and the waiting uploads."""
