"""Scenes of videos: where a video changes, and the middle frame of each scene."""
