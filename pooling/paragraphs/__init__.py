"""Paragraphs: captions made of ordered sentences, each with its clip of the video."""
