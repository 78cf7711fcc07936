from annotation.questions.scene.describe_scenes import Command

__all__ = ["Command"]
