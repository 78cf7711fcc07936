from annotation.questions.order.create_ordering_study import Command

__all__ = ["Command"]
