"""Scores from few drawn captions: the plan, the draw, its campaign and the estimate."""
