"""The spans of label sets: their files, and exports of moments."""
