"""Many sentences through one model: in windows, sorted by length inside each, out again in their order."""

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm.auto import tqdm
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from .data.batching import cut_batches


class Translator:
    """Translates a stream of sentences with bounded memory.

    Args:
        model: any sequence-to-sequence model with `generate`; put into evaluation mode.
        tokenizer: its tokenizer.
        tokens_per_batch: most source tokens of a batch, padding included.
        window: number of sentences read ahead and sorted by length.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        tokens_per_batch: int = 2048,
        window: int = 1000,
    ):
        for name, value in (("tokens_per_batch", tokens_per_batch), ("window", window)):
            if value < 1:
                raise ValueError(f"{name}={value} must be at least 1.")
        self.model, self.tokenizer = model.eval(), tokenizer
        self.tokens_per_batch, self.window = tokens_per_batch, window

    @classmethod
    def from_pretrained(
        cls, path: str | Path, *, device: str | None = None, dtype: Any = "auto", **kwargs: Any
    ) -> "Translator":
        """The model and tokenizer saved in a folder or on the Hub; `kwargs` as for the class."""
        model = AutoModelForSeq2SeqLM.from_pretrained(path, dtype=dtype)
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(model.to(device), AutoTokenizer.from_pretrained(path), **kwargs)

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
        source = iter(sentences)
        with tqdm(desc="Translating", unit=" sentences", total=total, disable=not progress) as bar:
            while window := list(islice(source, self.window)):
                yield from self._window(window, bar, generate)

    def _window(self, sentences: list[str], bar: tqdm, generate: dict[str, Any]) -> list[str]:
        results = [""] * len(sentences)
        filled = [i for i, sentence in enumerate(sentences) if sentence.strip()]
        bar.update(len(sentences) - len(filled))
        if not filled:
            return results
        ids = self.tokenizer([sentences[i] for i in filled])["input_ids"]
        lengths = np.array([len(sentence) for sentence in ids])
        order = np.argsort(lengths, kind="stable")
        # A sentence longer than the budget makes a batch of its own.
        budget = max(self.tokens_per_batch, int(lengths.max()))
        cuts = cut_batches(lengths[order], lengths[order], budget)
        for start, end in pairwise(cuts):
            batch = order[start:end]
            inputs = self.tokenizer.pad({"input_ids": [ids[i] for i in batch]}, return_tensors="pt")
            with torch.inference_mode():
                output = self.model.generate(  # type: ignore[operator]
                    input_ids=inputs["input_ids"].to(self.model.device),
                    attention_mask=inputs["attention_mask"].to(self.model.device),
                    **generate,
                )
            for i, text in zip(batch, self.tokenizer.batch_decode(output, skip_special_tokens=True), strict=True):
                # A line break in the output would shift every line after it.
                results[filled[i]] = text.replace("\r", " ").replace("\n", " ")
            bar.update(len(batch))
        return results
