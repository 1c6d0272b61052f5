"""Constituency parsing with a trained model (section 6.3 of the paper)."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.pipelines.base import Pipeline

from .constraints_vaswani import TreeConstraint
from .generation_vaswani import SourceLengthCriteria
from .trees_vaswani import delinearise, escape, unescape

TOKENIZATIONS = ("penn", "whitespace")


# --- Vocabulary ----------------------------------------------------------------------------------------------------


def target_symbols(tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """The target symbols of a vocabulary made with some, and their ids: those right after the special ones.

    In the vocabulary each has a space before it. A piece of text never has one (its spaces are bytes, written "Ġ"), so
    the two cannot be confused, and `tokenizer.decode` puts spaces between symbols.

    Raises:
        ValueError: there are none, so the model is no parser.
    """
    ids = {token[1:]: index for token, index in tokenizer.get_vocab().items() if token.startswith(" ")}
    if not ids:
        raise ValueError(
            "The vocabulary has no target symbols such as '(NP': this is no parsing model. Train one (task: parsing)."
        )
    return dict(sorted(ids.items(), key=lambda item: item[1]))


def encode_words(words: Sequence[str], tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """The word-pieces of each raw word.

    Where the tokenizer has a setting `pieces_per_word`, a word has no more pieces than that: of a longer word the last
    ones are kept, which tell its ending.
    """
    limit = tokenizer.init_kwargs.get("pieces_per_word")
    return [list(_pieces(word, tokenizer)[-limit if limit else 0 :]) for word in words]


@lru_cache(maxsize=100_000)
def _pieces(word: str, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    return tuple(tokenizer(word, add_special_tokens=False)["input_ids"])


# --- Raw sentences -------------------------------------------------------------------------------------------------

_PENN_RULES = [
    (re.compile(r"^\"|(?<=[ (\[{<])\""), " `` "),
    (re.compile(r"\""), " '' "),
    (re.compile(r"(\.\.\.|--+|[;@#$%&?!()\[\]{}<>]|[,:](?!\d))"), r" \1 "),
    (re.compile(r"([^. ])(\.)([\])}>'\s]*)$"), r"\1 \2 \3"),
    (re.compile(r"(?<=[^' ])('')"), r" \1 "),
    (re.compile(r"(?<=[^' ])('(?:s|m|d|ll|re|ve)?)(?= |$)", re.IGNORECASE), r" \1"),
    (re.compile(r"(?<=\w)(n't)(?= |$)", re.IGNORECASE), r" \1"),
    (re.compile(r"\b(can)(not)\b", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"\b(gon|wan)(na)\b", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"\b(got)(ta)\b", re.IGNORECASE), r"\1 \2"),
]


def penn_words(sentence: str) -> list[str]:
    """The words of one raw English sentence, split as the Penn Treebank does.

    Punctuation and clitics are words ("doesn't" -> does n't), double quotes become `` and '', and a period is split
    off at the end of the sentence only.
    """
    text = " ".join(sentence.split())
    for pattern, replacement in _PENN_RULES:
        text = pattern.sub(replacement, text)
    return text.split()


# --- Generation ----------------------------------------------------------------------------------------------------


def tree_constraint(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    attention_mask: torch.Tensor,
    num_words: torch.Tensor,
    settings: Mapping[str, Any],
) -> TreeConstraint:
    """The constraint for a batch that is generated with the given settings, or else with the model's own.

    Args:
        attention_mask: [B, S] of the source.
        num_words: [B].
        settings: arguments of `generate`.
    """
    chosen = model.generation_config.to_diff_dict() | {k: v for k, v in settings.items() if v is not None}  # type: ignore[union-attr]
    lengths = attention_mask.sum(-1)
    if (limit := chosen.get("max_new_tokens")) is None and (length := chosen.get("max_length")) is not None:
        limit = length - 1  # that one counts the start symbol
    if limit is None:
        limits = SourceLengthCriteria(lengths, chosen.get("max_len_a", 1.0), chosen.get("max_len_b", 50)).limits
    else:
        limits = torch.full_like(lengths, limit)
    return TreeConstraint(target_symbols(tokenizer), num_words, limits, tokenizer.eos_token_id)


def log_probabilities(
    model: PreTrainedModel, input_ids: torch.Tensor, attention_mask: torch.Tensor, sequences: torch.Tensor
) -> torch.Tensor:
    """What the model, unconstrained, gives to outputs.

    Args:
        input_ids, attention_mask: [B, S], the source.
        sequences: [B * n, T], n outputs of each sentence in consecutive rows, as `generate` returns them.

    Returns:
        float32 [B * n]: the natural logarithm of each output's probability, end symbol included.
    """
    per_sentence = sequences.shape[0] // input_ids.shape[0]
    with torch.no_grad():
        logits = model(
            input_ids=input_ids.repeat_interleave(per_sentence, 0),
            attention_mask=attention_mask.repeat_interleave(per_sentence, 0),
            decoder_input_ids=sequences[:, :-1],
        ).logits
    symbols = sequences[:, 1:]
    chosen = logits.float().log_softmax(-1).gather(-1, symbols.unsqueeze(-1)).squeeze(-1)
    return (chosen * (symbols != model.config.pad_token_id)).sum(-1)


# --- Pipeline ------------------------------------------------------------------------------------------------------


class ConstituencyParsingPipeline(Pipeline):
    """Sentences into constituency trees: `pipeline("constituency-parsing", model=...)`.

    Outputs are always trees over exactly the words given. By default only well-formed trees are generated; without the
    constraint, malformed outputs are repaired.

        parser(["It", "works", "."])       # the words of one sentence
        parser("It doesn't work.")         # a raw sentence, split as in the Penn Treebank
        parser([["It", "works", "."], ["So", "do", "I", "."]], batch_size=2)
    """

    _load_processor: Any = False
    _load_image_processor: Any = False
    _load_feature_extractor: Any = False
    _load_tokenizer: Any = True

    # Pipeline leaves these open.
    model: Any
    tokenizer: Any

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.symbol_of = {index: symbol for symbol, index in target_symbols(self.tokenizer).items()}

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Parse sentences.

        Args:
            inputs: the words of one sentence (a list of strings), a raw sentence (a string), or several of either: a
                list of lists, or a generator or data set of both kinds.
            tokenization: how raw sentences are split: "penn" (the default; see `penn_words`) or "whitespace".
            constrained: whether only well-formed trees can be generated; default True.
            num_return_sequences: number of trees a sentence, best first; default 1.
            batch_size: sentences generated together.
            kwargs: settings for `generate` (num_beams, length_penalty, do_sample, ...), over the model's own.

        Returns:
            for each sentence a dict, or with num_return_sequences above 1 a list of them:
            tree: `trees_vaswani.Tree`; `str(tree)` is bracketed text, `tree.pretty()` draws it for a terminal, and a
                notebook draws it by itself;
            bracketed: that text, brackets in words escaped, which nltk.Tree.fromstring reads;
            score: the natural logarithm of the tree's probability under the model;
            repairs: number of repairs a malformed output needed; 0 under the constraint.

        Raises:
            ValueError: a word that is empty or holds whitespace, or anything that is no sentence.
        """
        if isinstance(inputs, list) and inputs and all(isinstance(word, str) for word in inputs):
            return super().__call__([inputs], **kwargs)[0]
        if isinstance(inputs, list) and not inputs:
            return super().__call__([[]], **kwargs)[0]
        return super().__call__(inputs, **kwargs)

    def _sanitize_parameters(self, tokenization=None, constrained=None, **generate_kwargs):  # type: ignore[override]
        if tokenization not in (None, *TOKENIZATIONS):
            raise ValueError(f"Unknown tokenization {tokenization!r}: it must be one of {', '.join(TOKENIZATIONS)}.")
        preprocess = {} if tokenization is None else {"tokenization": tokenization}
        forward = generate_kwargs | ({} if constrained is None else {"constrained": constrained})
        return preprocess, forward, {}

    def preprocess(self, sentence: Any, tokenization: str = "penn") -> dict[str, Any]:  # type: ignore[override]
        """One sentence -> input_ids and attention_mask [1, S], num_words [1], and its words."""
        if isinstance(sentence, str):
            words = penn_words(sentence) if tokenization == "penn" else sentence.split()
        elif isinstance(sentence, (list, tuple)) and all(isinstance(word, str) for word in sentence):
            words = list(sentence)
        else:
            raise ValueError(
                f"A sentence is a list of words or a string, not {type(sentence).__name__}: {str(sentence)[:60]!r}."
            )
        try:
            escaped = [escape(word) for word in words]
        except ValueError as error:
            raise ValueError(
                f"{error} A list of strings is the words of one sentence; give several raw sentences through a "
                "generator, or split each into its words."
            ) from error
        # What a treebank writes as -LRB- is "(" to the model, given either way.
        pieces = encode_words([unescape(word) for word in words], self.tokenizer)
        ids = [piece for word in pieces for piece in word] + [self.tokenizer.eos_token_id]
        input_ids = torch.tensor([ids])
        return {
            "input_ids": input_ids,
            "attention_mask": torch.ones_like(input_ids),
            "num_words": torch.tensor([len(words)]),
            "words": [escaped],
        }

    def _forward(self, model_inputs: Mapping[str, Any], constrained: bool = True, **generate_kwargs):  # type: ignore[override]
        """Generate; returns sequences [B, n, T], scores [B, n] and the words of each sentence."""
        input_ids, mask = model_inputs["input_ids"], model_inputs["attention_mask"]
        processors = list(generate_kwargs.pop("logits_processor", None) or [])
        if constrained:
            processors.append(
                tree_constraint(self.model, self.tokenizer, mask, model_inputs["num_words"], generate_kwargs)
            )
        sequences = self.model.generate(
            input_ids=input_ids, attention_mask=mask, logits_processor=processors, **generate_kwargs
        )
        scores = log_probabilities(self.model, input_ids, mask, sequences)
        return {
            "sequences": sequences.view(len(input_ids), -1, sequences.shape[-1]),
            "scores": scores.view(len(input_ids), -1),
            "words": model_inputs["words"],
        }

    def postprocess(self, model_outputs: Mapping[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:  # type: ignore[override]
        """The trees of one sentence, as `__call__` describes them."""
        words = model_outputs["words"][0]
        records = []
        for sequence, score in zip(model_outputs["sequences"][0].tolist(), model_outputs["scores"][0], strict=True):
            tree, repairs = delinearise(
                [self.symbol_of[index] for index in sequence if index in self.symbol_of], words
            )
            records.append({"tree": tree, "bracketed": str(tree), "score": float(score), "repairs": repairs.total})
        return records[0] if len(records) == 1 else records


__all__ = ["ConstituencyParsingPipeline", "encode_words", "penn_words", "target_symbols", "tree_constraint"]
