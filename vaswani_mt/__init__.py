"""The Transformer of "Attention Is All You Need" for Hugging Face's libraries.

Importing the package makes transformers' Auto classes know the model and brings `pipeline("translation")` back.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .registration import register_models, register_pipelines

if TYPE_CHECKING:
    from .configuration_vaswani import VaswaniConfig
    from .modeling_vaswani import VaswaniForConditionalGeneration, VaswaniModel
    from .parsing_vaswani import ConstituencyParsingPipeline
    from .pipeline_vaswani import TranslationPipeline
    from .trainer import VaswaniTrainer, VaswaniTrainingArguments

__version__ = "0.1.0"

_MODULE_OF = {
    "ConstituencyParsingPipeline": "parsing_vaswani",
    "TranslationPipeline": "pipeline_vaswani",
    "VaswaniConfig": "configuration_vaswani",
    "VaswaniForConditionalGeneration": "modeling_vaswani",
    "VaswaniModel": "modeling_vaswani",
    "VaswaniTrainer": "trainer",
    "VaswaniTrainingArguments": "trainer",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: torch and transformers take seconds to load."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


register_models()
register_pipelines()

__all__ = [
    "ConstituencyParsingPipeline",
    "TranslationPipeline",
    "VaswaniConfig",
    "VaswaniForConditionalGeneration",
    "VaswaniModel",
    "VaswaniTrainer",
    "VaswaniTrainingArguments",
    "__version__",
]
