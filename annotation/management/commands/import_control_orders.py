from annotation.questions.order.import_control_orders import Command

__all__ = ["Command"]
