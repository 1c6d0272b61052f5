"""What `import vaswani_mt` adds to transformers.

Importing transformers' pipelines or Auto classes takes seconds, so each part waits until the program imports what it
adds to.
"""

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

TASK = "translation"
LANGUAGE_PAIR = re.compile(r"translation_(.+)_to_(.+)")
PARSING_TASK = "constituency-parsing"
PARSING_PIPELINE_CLASS = "vaswani_mt.parsing_vaswani.ConstituencyParsingPipeline"
PIPELINE_CLASS = "vaswani_mt.pipeline_vaswani.TranslationPipeline"


def when_imported(module_name: str, callback: Callable[[], object]) -> None:
    """Call `callback` once the module is imported: now if it is already, else right after its code has run.

    Args:
        module_name: full name, such as "transformers.pipelines".
        callback: must bear being called again, as after `importlib.reload`.
    """
    if module_name in sys.modules:
        callback()
    else:
        sys.meta_path.insert(0, _AfterImport(module_name, callback))


class _AfterImport(MetaPathFinder):
    """Finds one module as the finders behind it do, and has its loader call back."""

    def __init__(self, module_name: str, callback: Callable[[], object]):
        self.module_name, self.callback = module_name, callback

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module_name:
            return None
        behind = sys.meta_path[sys.meta_path.index(self) + 1 :]
        spec = next((spec for finder in behind if (spec := finder.find_spec(fullname, path, target))), None)
        if spec is not None and spec.loader is not None:
            exec_module = spec.loader.exec_module

            def exec_module_and_call_back(module: ModuleType) -> None:
                exec_module(module)
                self.callback()

            spec.loader.exec_module = exec_module_and_call_back  # type: ignore[method-assign]
        return spec


class _NoDefaultModel:
    """Stands where transformers looks for the default (model, revision) of a task that has none."""

    def __iter__(self):
        raise ValueError(
            'The task "translation" has no default model: pass one, as in '
            'pipeline("translation", model="Helsinki-NLP/opus-mt-en-de").'
        )


# As in transformers 4.
DEFAULT_MODELS: dict[Any, Any] = {
    ("en", target): {"model": ("google-t5/t5-base", "a9723ea")} for target in ("de", "fr", "ro")
}
DEFAULT_MODELS["model"] = _NoDefaultModel()


def register_pipelines() -> None:
    """Bring back `pipeline("translation")` and `pipeline("translation_xx_to_yy")`, which transformers 5 removed.

    Takes effect at once if `transformers.pipelines` is imported, else when it is. Calling it again changes nothing.
    Where "translation" is registered already, by the user or a later transformers, that is left alone: importing a
    package should not exchange what others rely on. `pipeline(..., pipeline_class=TranslationPipeline)` then still
    gives this package's class. Other removed tasks ("summarization", ...) stay removed.
    """
    when_imported("transformers.pipelines", _register_translation)
    when_imported("transformers.pipelines", _register_parsing)


def _register_translation() -> None:
    from transformers import pipelines

    registry = pipelines.PIPELINE_REGISTRY
    if TASK in registry.supported_tasks:
        return
    pipelines.REMOVED_TASKS.pop(TASK, None)
    # What `registry.register_pipeline` stores, but with the class's name, which does not import it.
    registry.supported_tasks[TASK] = {
        "impl": PIPELINE_CLASS,
        "pt": (pipelines.AutoModelForSeq2SeqLM,),
        "default": DEFAULT_MODELS,
        "type": "text",
    }
    check_task = registry.check_task

    def check_task_or_language_pair(task: str):
        if task in registry.supported_tasks or not task.startswith(f"{TASK}_"):
            return check_task(task)
        pair = LANGUAGE_PAIR.fullmatch(task)
        if pair is None:
            raise KeyError(f'Invalid task "{task}": use "translation_XX_to_YY", such as "translation_en_to_de".')
        return TASK, registry.supported_tasks[TASK], pair.groups()

    # The registry has no way to add a family of tasks.
    registry.check_task = check_task_or_language_pair  # type: ignore[method-assign]


def _register_parsing() -> None:
    """Add `pipeline("constituency-parsing")`, a task that transformers never had."""
    from transformers import pipelines

    pipelines.PIPELINE_REGISTRY.supported_tasks.setdefault(
        PARSING_TASK,
        {"impl": PARSING_PIPELINE_CLASS, "pt": (pipelines.AutoModelForSeq2SeqLM,), "default": {}, "type": "text"},
    )


def register_models() -> None:
    """Make AutoConfig, AutoModel and AutoModelForSeq2SeqLM know "vaswani", once the program imports them."""
    when_imported("transformers.models.auto.configuration_auto", _register_config)
    # The model's own module may be what imports the Auto classes, so they are told when it is complete.
    when_imported("vaswani_mt.modeling_vaswani", _register_models)
    when_imported("transformers.models.auto.modeling_auto", lambda: import_module("vaswani_mt.modeling_vaswani"))


def _register_config() -> None:
    from transformers.models.auto.configuration_auto import AutoConfig

    from .configuration_vaswani import VaswaniConfig

    AutoConfig.register(VaswaniConfig.model_type, VaswaniConfig, exist_ok=True)


def _register_models() -> None:
    from transformers import AutoModel, AutoModelForSeq2SeqLM
    from transformers.models.auto import modeling_auto

    from .configuration_vaswani import VaswaniConfig
    from .modeling_vaswani import VaswaniForConditionalGeneration, VaswaniModel

    AutoModel.register(VaswaniConfig, VaswaniModel, exist_ok=True)
    AutoModelForSeq2SeqLM.register(VaswaniConfig, VaswaniForConditionalGeneration, exist_ok=True)
    # What looks a model up by the name of its class (transformers' common tests, its Trainer) reads these.
    modeling_auto.MODEL_MAPPING_NAMES["vaswani"] = "VaswaniModel"
    modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES["vaswani"] = "VaswaniForConditionalGeneration"
