from annotation.questions.faithfulness.command import Command

__all__ = ["Command"]
