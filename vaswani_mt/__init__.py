from .registration import register_pipelines

register_pipelines()
