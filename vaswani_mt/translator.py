"""Many sentences through one model: in windows, sorted by length inside each, out again in their order."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from .pipeline_vaswani import TOKENS_PER_BATCH, TranslationPipeline


class Translator:
    """Translates a stream of sentences with bounded memory, by `TranslationPipeline` a window at a time.

    Args:
        model: any sequence-to-sequence model with `generate`; put into evaluation mode.
        tokenizer: its tokenizer.
        ensemble: further models of this package and of the same vocabulary; decoding then takes the mean of the
            log-probabilities of all.
        tokens_per_batch: most source tokens of a batch, padding included.
        window: number of sentences read ahead and sorted by length.

    Raises:
        ValueError: a number below 1; an ensemble around a model that is not of this package.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        ensemble: Sequence[PreTrainedModel] = (),
        tokens_per_batch: int = TOKENS_PER_BATCH,
        window: int = 1000,
    ):
        for name, value in (("tokens_per_batch", tokens_per_batch), ("window", window)):
            if value < 1:
                raise ValueError(f"{name}={value} must be at least 1.")
        for member in (model, *ensemble) if ensemble else ():
            if not hasattr(member, "_incremental_decoder"):
                raise ValueError(f"Ensembles are of models of this package; {type(member).__name__} is not one.")
        self.model, self.tokenizer = model.eval(), tokenizer
        self.ensemble = [member.eval() for member in ensemble]
        self.tokens_per_batch, self.window = tokens_per_batch, window
        self.pipeline = TranslationPipeline(model, tokenizer, device=model.device)

    @classmethod
    def from_pretrained(
        cls, path: str | Path, *more: str | Path, device: str | None = None, dtype: Any = "auto", **kwargs: Any
    ) -> "Translator":
        """The model and tokenizer saved in a folder or on the Hub; `more` models make an ensemble.

        Raises:
            ValueError: models of different vocabularies.
        """
        import torch

        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        models = [AutoModelForSeq2SeqLM.from_pretrained(each, dtype=dtype).to(device) for each in (path, *more)]
        tokenizers = [AutoTokenizer.from_pretrained(each) for each in (path, *more)]
        for other, tokenizer in zip(more, tokenizers[1:], strict=True):
            if tokenizer.get_vocab() != tokenizers[0].get_vocab():
                raise ValueError(f"The vocabulary of {other} is not that of {path}: an ensemble needs one for all.")
        return cls(models[0], tokenizers[0], ensemble=models[1:], **kwargs)

    def translate(
        self, sentences: Iterable[str], *, progress: bool = False, total: int | None = None, **generate: Any
    ) -> Iterator[str]:
        """Translations in the order of `sentences`, one each; those of blank sentences are empty.

        Args:
            sentences: read a window at a time.
            progress: whether to show a bar.
            total: number of sentences, for the bar.
            generate: settings for `model.generate`, over those of the model's generation_config.

        Yields:
            one line of text a sentence, itself without line breaks.
        """
        for records in self.translate_in_detail(sentences, progress=progress, total=total, **generate):
            yield records[0]["translation_text"]

    def translate_in_detail(
        self, sentences: Iterable[str], *, progress: bool = False, total: int | None = None, **settings: Any
    ) -> Iterator[list[dict[str, Any]]]:
        """As `translate`, with everything that `TranslationPipeline` gives.

        Args:
            settings: of `model.generate` and of `TranslationPipeline.__call__`: `num_return_sequences`,
                `return_score`, `return_attention`, `return_tensors`, ...

        Yields:
            a dictionary for each of the num_return_sequences translations of a sentence, best first.
        """
        if self.ensemble:
            settings["ensemble"] = self.ensemble
        source = iter(sentences)
        with tqdm(desc="Translating", unit=" sentences", total=total, disable=not progress) as bar:
            while window := list(islice(source, self.window)):
                for records in self.pipeline.translate_list(
                    window, on_batch=bar.update, tokens_per_batch=self.tokens_per_batch, **settings
                ):
                    for record in records:
                        # A line break in the output would shift every line after it.
                        record["translation_text"] = record["translation_text"].replace("\r", " ").replace("\n", " ")
                    yield records
