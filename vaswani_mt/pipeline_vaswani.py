"""`pipeline("translation")`, which transformers 5 removed, for every encoder-decoder model.

Calls and results are those of transformers 4; see `TranslationPipeline` for what it does better.
"""

import copy
import enum
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from types import GeneratorType
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import AutoModelForSeq2SeqLM
from transformers.generation import StoppingCriteriaList
from transformers.pipelines import Pipeline

from .generation_vaswani import SourceLengthCriteria

logger = logging.getLogger(__name__)

TOKENS_PER_BATCH = 2048
INPUT_KINDS = "a string, a list of strings, or a dataset or generator of strings"


class ReturnType(enum.Enum):
    """What `return_type` asks for; the same names and values as in transformers 4."""

    TENSORS = 0
    TEXT = 1


def position_table_size(stack: nn.Module) -> int | None:
    """Number of positions that an encoder or decoder has a table for; None where positions have no end.

    Learned positions and MarianMT's sinusoids are embeddings of a fixed size. Sinusoids computed on demand (this
    package, M2M100) and relative positions (T5) are not.
    """
    for name, module in stack.named_modules():
        label = f"{name} {type(module).__name__}".lower()
        if isinstance(module, nn.Embedding) and "position" in label and "relative" not in label:
            return module.num_embeddings - getattr(module, "offset", 0)
    return None


def batches_by_length(lengths: Sequence[int], tokens_per_batch: int) -> Iterator[list[int]]:
    """Places of sentences of similar length, shortest first, in batches of at most `tokens_per_batch` tokens.

    Padding counts. A sentence longer than the budget makes a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > tokens_per_batch:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def unpadded_lengths(
    sequences: torch.Tensor,
    prompt_length: int,
    limits: torch.Tensor | None,
    pad_token_id: int | None,
    eos_token_id: int | list[int] | None,
) -> torch.Tensor:
    """Number of ids in each row of what `generate` returns before those that only fill the row up.

    A finished row is filled with the padding symbol or, in beam search where the padding symbol has id 0, with the end
    symbol; so the end symbol, the row's limit and the last id that is no padding all say where a row ends.

    Args:
        sequences: [N, T].
        limits: [N] generated tokens that a row may have, or None.

    Returns:
        [N] int64.
    """
    size = sequences.shape[1]
    steps = torch.arange(1, size + 1, device=sequences.device)
    lengths = torch.full_like(sequences[:, 0], size)
    if limits is not None:
        lengths = lengths.minimum(prompt_length + limits)
    if eos_token_id is not None:
        ended = torch.isin(sequences, torch.as_tensor(eos_token_id, device=sequences.device)) & (steps > prompt_length)
        lengths = lengths.minimum(torch.where(ended, steps, size).amin(-1))
    if pad_token_id is not None:
        lengths = (steps * ((sequences != pad_token_id) & (steps <= lengths[:, None]))).amax(-1)
    return lengths


class TranslationPipeline(Pipeline):
    """Translate text with an encoder-decoder model: Vaswani, MarianMT, T5, mBART, NLLB, M2M100, ...

    As in transformers 4:
        - the task "translation_xx_to_yy" sets the languages, and with them what the model's configuration keeps for
          this task in `task_specific_params` (T5's prefix "translate English to German: "). For plain "translation"
          the first such entry of the configuration is taken, with a warning, unless languages are given.
        - multilingual tokenizers get `src_lang` and `tgt_lang`, in the tokenizer's own codes.
    Beyond transformers 4:
        - The translation of a sentence does not depend on the sentences it is batched with: padding goes to the right
          whatever the tokenizer says (models with absolute positions need it), and the length limit is its own.
        - That limit is the paper's, source length + 50 tokens (section 6.1; see `SourceLengthCriteria`), unless the
          call, the pipeline or the model's generation configuration sets `max_new_tokens` or `max_length`.
        - An empty or blank input gives an empty translation without running the model.
        - An input longer than the model was made for is warned about, and never cut unless `truncation` is asked for.

    Args:
        model: an encoder-decoder model that can `generate`.
        tokenizer: its tokenizer. Batches need its padding symbol.
        task: "translation" or "translation_xx_to_yy".
        kwargs: what `Pipeline` takes (`device`, `batch_size`, ...) and every argument of a call, as its default.

    Raises:
        ValueError: the model is not an encoder-decoder model, or the tokenizer is missing.

    Example:
        >>> import vaswani_mt
        >>> from transformers import pipeline
        >>> translator = pipeline("translation", model="Helsinki-NLP/opus-mt-en-de")
        >>> translator(["Attention is all you need.", ""], batch_size=2)
        [{'translation_text': 'Aufmerksamkeit ist alles, was Sie brauchen.'}, {'translation_text': ''}]
    """

    return_name = "translation"

    model: Any
    tokenizer: Any
    _load_tokenizer: Any = True
    _load_processor: Any = False
    _load_image_processor: Any = False
    _load_video_processor: Any = False
    _load_feature_extractor: Any = False

    def __init__(self, model, tokenizer=None, *, task: str = "translation", **kwargs):
        name = type(model).__name__
        if not model.config.is_encoder_decoder or not model.can_generate():
            raise ValueError(f"Translation needs an encoder-decoder model that generates text; {name} is not one.")
        if tokenizer is None:
            raise ValueError(f"Translation needs the tokenizer of {name}: pass tokenizer=...")
        self._task_params = getattr(model.config, "task_specific_params", None) or {}
        pairs = [key for key in self._task_params if key.startswith("translation_")]
        if task == "translation" and pairs and not (kwargs.get("src_lang") or kwargs.get("tgt_lang")):
            task = pairs[0]
            warnings.warn(
                f'The task "translation" does not name the languages; taking "{task}", the first one that the '
                "configuration of this model has parameters for.",
                UserWarning,
                stacklevel=2,
            )
        if pair := re.fullmatch("translation_(.+)_to_(.+)", task):
            for side, language in zip(("src_lang", "tgt_lang"), pair.groups(), strict=True):
                kwargs[side] = kwargs.get(side) or language

        self._source_limit = position_table_size(model.get_encoder())
        self._source_limit_name = "the model's position table"
        # Tokenizers say 10^30 for "no limit".
        if tokenizer.model_max_length < (self._source_limit or 10**9):
            self._source_limit = tokenizer.model_max_length
            self._source_limit_name = "model_max_length of the tokenizer"
        self._target_limit = position_table_size(model.get_decoder())
        if getattr(model, "_auto_class", None) is not None:
            # `save_pretrained` then puts this file beside the model's own code, for `trust_remote_code=True`. Models
            # that transformers knows need no code in their repository.
            entry = {"impl": type(self), "pt": (AutoModelForSeq2SeqLM,), "type": "text"}
            self._registered_impl = {"translation": entry}
        super().__init__(model=model, tokenizer=tokenizer, task=task, **kwargs)

    def __call__(self, inputs, **kwargs):  # type: ignore[override]
        """Translate.

        Args:
            inputs: a string; a list (or another sequence, such as a column of a `datasets.Dataset`) of strings; or a
                torch `Dataset` (`KeyDataset(dataset, "en")`), generator or other iterable of strings.
            batch_size: sentences to translate together. By default a list is translated in batches of similar
                lengths, of `tokens_per_batch` tokens each, and anything else a sentence at a time.
            tokens_per_batch: source tokens of a batch, padding included, where no batch_size is set; default 2048.
            num_workers: worker processes of the data loader.
            return_tensors, return_text: whether results hold token ids, and whether text. Text only by default; where
                one of the two is given, the other one is its opposite.
            return_type: `ReturnType.TENSORS` or `ReturnType.TEXT`, instead of the two.
            return_score: add `translation_score`, the score of beam search.
            return_attention: add `translation_attention`; only for models of this package.
            clean_up_tokenization_spaces: remove spaces before punctuation when decoding; default False.
            src_lang, tgt_lang: languages, for multilingual models and for T5's prefixes.
            truncation: cut the source to the longest one that the model was made for; default False.
            stop_sequence: a string or strings to stop after, whole strings of any number of tokens.
            max_len_a, max_len_b: the length limit, max_len_a x source length + max_len_b tokens; 1 and 50 by default.
            generate_kwargs: every other argument goes to `generate` (`num_beams`, `max_new_tokens`, ...).

        Returns:
            For a string, a list with one dictionary for each of the `num_return_sequences` translations. For a
            sequence, a list of such lists in the order of the inputs, or of dictionaries where each would hold
            one. For the other inputs, an iterator over such lists. A dictionary has

            - translation_text: str, without special symbols;
            - translation_token_ids: int64 tensor [T], as generated, without the padding after the last token (for a
              blank input, [0]);
            - translation_score: float, the log-probability divided by the length penalty; None for a blank text;
            - translation_attention: float32 tensor [layers, T, S], how much each token of translation_token_ids after
              the start symbol attends to each source token, mean over the heads.

        Raises:
            ValueError: something in `inputs` is not a string; a language is missing or unknown; a batch is asked for
                and the tokenizer has no padding symbol.
        """
        if isinstance(inputs, str):
            return super().__call__(inputs, **kwargs)
        if isinstance(inputs, bytes | Mapping) or not isinstance(inputs, Iterable | Dataset):
            raise ValueError(f"The input of a translation must be {INPUT_KINDS}, not {type(inputs).__name__}.")
        if isinstance(inputs, Sized) and len(inputs) == 0:
            return []
        if isinstance(inputs, Dataset | GeneratorType):
            return super().__call__(inputs, **kwargs)
        if not isinstance(inputs, Sequence):
            return super().__call__((text for text in inputs), **kwargs)

        inputs = list(inputs)
        for index, text in enumerate(inputs):
            check_text(text, f"element {index} of the list")
        results = self.translate_list(inputs, **kwargs)
        return [result[0] for result in results] if all(len(result) == 1 for result in results) else results

    def translate_list(
        self, texts: list[str], *, on_batch: Callable[[int], Any] | None = None, **kwargs
    ) -> list[list[dict[str, Any]]]:
        """`__call__` for a list: one list of dictionaries a text, in the order of the texts.

        Args:
            on_batch: called after each batch with the number of texts in it.
        """
        tokens = kwargs.pop("tokens_per_batch", None) or TOKENS_PER_BATCH
        if (kwargs.get("batch_size") or self._batch_size) is not None:
            return super().__call__(texts, **kwargs)
        for name in ("batch_size", "num_workers"):
            kwargs.pop(name, None)
        defaults = self._preprocess_params, self._forward_params, self._postprocess_params
        settings = [default | own for default, own in zip(defaults, self._sanitize_parameters(**kwargs), strict=True)]
        encoded = [self.preprocess(text, **settings[0]) for text in texts]
        results: list[Any] = [None] * len(texts)
        padding = self.tokenizer.pad_token_id
        lengths = [int(encoding["attention_mask"].sum()) for encoding in encoded]
        for places in batches_by_length(lengths, 1 if padding is None else tokens):
            batch: dict[str, Any] = {
                name: pad_sequence([encoded[i][name][0] for i in places], batch_first=True, padding_value=value)
                for name, value in (("input_ids", padding or 0), ("attention_mask", 0))
            }
            batch["forced_bos_token_id"] = [encoded[i]["forced_bos_token_id"] for i in places]
            outputs = self.forward(batch, **settings[1])
            for row, place in enumerate(places):
                own = {name: tensor[row : row + 1] for name, tensor in outputs.items()}
                results[place] = self.postprocess(own, **settings[2])
            if on_batch is not None:
                on_batch(len(places))
        return results

    def _sanitize_parameters(
        self,
        return_tensors: bool | None = None,
        return_text: bool | None = None,
        return_type: ReturnType | int | None = None,
        clean_up_tokenization_spaces: bool | None = None,
        truncation: bool | str | None = None,
        stop_sequence: str | list[str] | None = None,
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        return_score: bool | None = None,
        return_attention: bool | None = None,
        **generate_kwargs,
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        languages = {"src_lang": src_lang, "tgt_lang": tgt_lang}
        languages = {name: language for name, language in languages.items() if language is not None}
        preprocess: dict[str, Any] = dict(languages)
        if truncation is not None:
            preprocess["truncation"] = truncation

        if stop_sequence is not None:
            generate_kwargs |= {"stop_strings": stop_sequence, "tokenizer": self.tokenizer}

        postprocess: dict[str, Any] = {}
        if return_type is not None:
            return_tensors, return_text = ReturnType(return_type) is ReturnType.TENSORS, None
        if return_tensors is not None or return_text is not None:
            postprocess["return_tensors"] = not return_text if return_tensors is None else return_tensors
            postprocess["return_text"] = not return_tensors if return_text is None else return_text
            if not any(postprocess.values()):
                raise ValueError("return_tensors=False and return_text=False leave nothing to return.")
        if clean_up_tokenization_spaces is not None:
            postprocess["clean_up_tokenization_spaces"] = clean_up_tokenization_spaces
        if return_attention and not hasattr(self.model, "_incremental_decoder"):
            raise ValueError(
                f"return_attention is for models of this package; {type(self.model).__name__} is not one."
            )
        wanted = {"return_score": return_score, "return_attention": return_attention}
        wanted = {name: value for name, value in wanted.items() if value}
        return preprocess, languages | wanted | generate_kwargs, postprocess

    def preprocess(  # type: ignore[override]
        self,
        text: str,
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        truncation: bool | str = False,
    ) -> dict[str, Any]:
        """Encode one text.

        Returns:
            input_ids, attention_mask: int64 [1, S]; for a blank text one masked symbol.
            forced_bos_token_id: the target language's symbol, where the tokenizer has one, else None.
        """
        check_text(text, "an element of the dataset or generator")
        # Prefix and end symbol would make the model invent a translation of nothing.
        encoding = self._encode(text, src_lang, tgt_lang, truncation) if text.strip() else {}
        input_ids = encoding.get("input_ids")
        if input_ids is None or input_ids.shape[1] == 0:
            nothing = torch.zeros((1, 1), dtype=torch.long)
            return {"input_ids": nothing, "attention_mask": nothing, "forced_bos_token_id": None}
        if self._source_limit is not None and input_ids.shape[1] > self._source_limit:
            logger.warning(
                "An input of %d tokens is longer than the %d that %s allows for. The model may fail or translate it "
                "badly: split it, or cut it with truncation=True. It begins: %r",
                input_ids.shape[1],
                self._source_limit,
                self._source_limit_name,
                text[:60],
            )
        # Nothing else of the encoding (token_type_ids) is anything that an encoder-decoder model takes.
        return {
            "input_ids": input_ids,
            "attention_mask": encoding["attention_mask"],
            "forced_bos_token_id": encoding.get("forced_bos_token_id"),
        }

    def _encode(self, text: str, src_lang: str | None, tgt_lang: str | None, truncation: bool | str):
        tokenizer = self.tokenizer
        options = {"return_tensors": "pt", "return_attention_mask": True, "truncation": truncation}
        if truncation not in (False, "do_not_truncate") and self._source_limit is not None:
            options["max_length"] = self._source_limit
        prefix = getattr(self.model.config, "prefix", None) or ""
        text = self._params_of(src_lang, tgt_lang).get("prefix", prefix) + text

        if hasattr(tokenizer, "_build_translation_inputs"):
            try:
                encoding = tokenizer._build_translation_inputs(text, src_lang=src_lang, tgt_lang=tgt_lang, **options)
            except KeyError as error:  # M2M100
                raise ValueError(f"{error} is not a language code of {type(tokenizer).__name__}.") from error
            # mBART and NLLB make the unknown symbol of a code that they do not know.
            for code, token_id in (
                (src_lang, getattr(tokenizer, "cur_lang_code", None)),
                (tgt_lang, encoding.get("forced_bos_token_id")),
            ):
                if token_id is not None and token_id == tokenizer.unk_token_id:
                    raise ValueError(f"{code!r} is not a language code of {type(tokenizer).__name__}.")
            return encoding
        for attribute, code in (("src_lang", src_lang), ("tgt_lang", tgt_lang)):
            if code is not None and hasattr(tokenizer, attribute):
                setattr(tokenizer, attribute, code)
        return tokenizer(text, **options)

    def _params_of(self, src_lang: str | None, tgt_lang: str | None) -> dict[str, Any]:
        return self._task_params.get(f"translation_{src_lang}_to_{tgt_lang}", {})

    def _forward(  # type: ignore[override]
        self,
        model_inputs: Mapping[str, Any],
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        return_score: bool = False,
        return_attention: bool = False,
        **generate_kwargs,
    ) -> dict[str, torch.Tensor]:
        """Generate for the texts of a batch that are not blank.

        Returns (scores and attention only if asked for):
            scores: float32 [B, num_return_sequences], NaN for a blank text.
            attention: float32 [B, num_return_sequences, layers, T - 1, S]; source_lengths: int64 [B].
            output_ids: int64 [B, num_return_sequences, T].
            output_lengths: int64 [B, num_return_sequences], the number of ids before the padding; 0 for a blank text.
        """
        mask = model_inputs["attention_mask"].bool()
        filled = mask.any(-1)
        for name in ("max_new_tokens", "max_length"):
            if generate_kwargs.get(name) is None:
                generate_kwargs.pop(name, None)
        config = generate_kwargs.pop("generation_config", None)
        chosen = ({} if config is None else config.to_diff_dict()) | generate_kwargs
        for name in ("max_len_a", "max_len_b"):  # this pipeline's own, for models whose `generate` lacks them too
            generate_kwargs.pop(name, None)
        implied = self._implied_settings(model_inputs["forced_bos_token_id"], src_lang, tgt_lang, chosen)
        settings = self.model.generation_config.to_diff_dict() | implied | chosen
        num_return_sequences = settings.get("num_return_sequences") or 1
        max_len_a, max_len_b = settings.get("max_len_a", 1.0), settings.get("max_len_b", 50)
        if not filled.any():
            nothing = torch.zeros((len(mask), num_return_sequences, 0), dtype=torch.long)
            outputs = {"output_ids": nothing, "output_lengths": nothing.sum(-1)}
            if return_score:
                outputs["scores"] = torch.full(nothing.shape[:2], torch.nan)
            return outputs
        if return_score or return_attention:
            generate_kwargs["return_dict_in_generate"] = True
            # transformers returns its scores only beside those of every step.
            generate_kwargs["output_scores"] = return_score and not hasattr(self.model, "_incremental_decoder")
        if return_attention:
            generate_kwargs["return_attention"] = True

        # Padded anew, on the right, without the blank rows and so no wider than needed.
        sources = [ids[kept] for ids, kept in zip(model_inputs["input_ids"][filled], mask[filled], strict=True)]
        lengths = torch.tensor([len(source) for source in sources], device=mask.device)
        criteria = StoppingCriteriaList(generate_kwargs.pop("stopping_criteria", None) or [])
        limit = settings.get("max_new_tokens") or settings.get("max_length")
        prompt = settings.get("decoder_input_ids")
        prompt_length = 1 if prompt is None else prompt.shape[1]
        own_limits = None
        if limit is None:
            own_limits = SourceLengthCriteria(lengths, max_len_a, max_len_b, prompt_length)
            criteria.append(own_limits)
            implied["max_new_tokens"] = int(own_limits.limits.max())
            if self._target_limit is not None:
                implied["max_new_tokens"] = min(implied["max_new_tokens"], self._target_limit - prompt_length)
        elif lengths.max() > 0.9 * limit:
            logger.warning(
                "An input has %d tokens and translations are limited to %d, so its translation may be cut: raise "
                "max_new_tokens (or max_length), or set neither to allow for 50 tokens more than the input.",
                int(lengths.max()),
                limit,
            )
        if config is None:
            generate_kwargs = implied | generate_kwargs
        else:
            # `generate` deprecates settings beside a configuration, so they go into a copy of it.
            config = copy.deepcopy(config)
            config.update(**implied)
            generate_kwargs["generation_config"] = config
        generated = self.model.generate(
            input_ids=pad_sequence(sources, batch_first=True, padding_value=self.tokenizer.pad_token_id or 0),
            attention_mask=pad_sequence([torch.ones_like(source) for source in sources], batch_first=True),
            stopping_criteria=criteria,
            **generate_kwargs,
        )
        sequences = generated if isinstance(generated, torch.Tensor) else generated.sequences

        limits = None if own_limits is None else own_limits.limits.repeat_interleave(num_return_sequences)
        symbols = settings.get("pad_token_id"), settings.get("eos_token_id")
        sequence_lengths = unpadded_lengths(sequences, prompt_length, limits, *symbols)
        output_ids = sequences.new_zeros((len(mask), num_return_sequences, sequences.shape[1]))
        output_ids[filled] = sequences.view(-1, num_return_sequences, sequences.shape[1])
        output_lengths = sequences.new_zeros((len(mask), num_return_sequences))
        output_lengths[filled] = sequence_lengths.view(-1, num_return_sequences)
        outputs = {"output_ids": output_ids, "output_lengths": output_lengths}
        if return_score:
            found = generated.get("sequences_scores")
            if found is None:
                raise ValueError("return_score=True: only beam search has scores; set num_beams to 2 or more.")
            outputs["scores"] = found.new_full(output_lengths.shape, torch.nan)
            outputs["scores"][filled] = found.view(-1, num_return_sequences)
        if return_attention:
            paid = generated.source_attention.unflatten(0, (-1, num_return_sequences)).transpose(2, 3)
            outputs["attention"] = paid.new_zeros((len(mask), *paid.shape[1:]))
            outputs["attention"][filled] = paid
            outputs["source_lengths"] = mask.sum(-1)
        return outputs

    def _implied_settings(
        self,
        forced_bos_token_id: int | list[int | None] | None,
        src_lang: str | None,
        tgt_lang: str | None,
        chosen: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Settings for `generate` that the languages and the tokenizer imply, without those that the caller chose."""
        if isinstance(forced_bos_token_id, list):  # one for each text of a batch, None for a blank one
            forced_bos_token_id = next((code for code in forced_bos_token_id if code is not None), None)
        implied = self._params_of(src_lang, tgt_lang) | {"forced_bos_token_id": forced_bos_token_id}
        if self.model.generation_config.pad_token_id is None:
            implied["pad_token_id"] = self.tokenizer.pad_token_id
        left_out = {"prefix", *chosen} | ({"max_length"} if "max_new_tokens" in chosen else set())
        return {name: value for name, value in implied.items() if value is not None and name not in left_out}

    def postprocess(  # type: ignore[override]
        self,
        model_outputs: Mapping[str, torch.Tensor],
        return_tensors: bool = False,
        return_text: bool = True,
        clean_up_tokenization_spaces: bool = False,
    ) -> list[dict[str, Any]]:
        """The translations of one text, as `__call__` describes them."""
        records = []
        scores, attention = model_outputs.get("scores"), model_outputs.get("attention")
        for rank, (padded_ids, length) in enumerate(
            zip(model_outputs["output_ids"][0], model_outputs["output_lengths"][0], strict=True)
        ):
            ids = padded_ids[:length]
            record: dict[str, Any] = {}
            if return_text:
                record[f"{self.return_name}_text"] = self.tokenizer.decode(
                    ids, skip_special_tokens=True, clean_up_tokenization_spaces=clean_up_tokenization_spaces
                )
            if return_tensors:
                record[f"{self.return_name}_token_ids"] = ids
            if scores is not None:
                record[f"{self.return_name}_score"] = None if scores[0, rank].isnan() else scores[0, rank].item()
            if attention is not None:
                source_length = int(model_outputs["source_lengths"][0])
                record[f"{self.return_name}_attention"] = attention[0, rank, :, : max(0, length - 1), :source_length]
            records.append(record)
        return records


def check_text(text: Any, where: str) -> None:
    """Raise a ValueError unless `text` is a string."""
    if not isinstance(text, str):
        hint = ' (for one column of a dataset, pass KeyDataset(dataset, "column"))' if isinstance(text, dict) else ""
        raise ValueError(
            f"The input of a translation must be {INPUT_KINDS}, but {where} is of type {type(text).__name__}{hint}."
        )


__all__ = ["ReturnType", "TranslationPipeline"]
