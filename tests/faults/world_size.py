"""The size of the benchmark for imports, for processes with and without Django."""

CAPTIONS, VIDEOS = 400, 1000
