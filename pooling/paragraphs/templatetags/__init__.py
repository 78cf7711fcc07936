"""The template tags of paragraphs."""
