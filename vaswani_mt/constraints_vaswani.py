"""Constrained generation: only well-formed trees with one pre-terminal for each word of the input."""

from collections.abc import Mapping, Sequence

import torch
from transformers import LogitsProcessor


class TreeConstraint(LogitsProcessor):
    """Leaves, at every step, only symbols after which a well-formed tree over the sentence's words can still follow.

    Outputs are linearised trees (Vinyals et al. 2015): `(X` opens a phrase, `)X` closes it, a tag stands for the next
    word. At every step: a tag as long as words are left; an opening as long as words are left and the length limit has
    room for its closing; the closing of the innermost bracket if there is something in it; the end once all words are
    used and all brackets closed. So no output is ever cut by the limit.

    The state is computed from `input_ids` at every call and nothing is remembered between calls: beams may be
    reordered, copied or dropped at will.

    Args:
        symbols: the target symbols and their ids, as `tokenization.target_symbols` gives them.
        num_words: [B], words of each sentence.
        limits: [B], most tokens generated for each sentence, the end symbol counted.
        eos_token_id: the end symbol.
        prompt_length: number of decoder tokens before the first generated one.

    Raises:
        ValueError: a limit that has no room for any tree; on a call, a number of rows that is no multiple of B.
    """

    def __init__(
        self,
        symbols: Mapping[str, int],
        num_words: torch.Tensor | Sequence[int],
        limits: torch.Tensor | Sequence[int],
        eos_token_id: int,
        prompt_length: int = 1,
    ):
        self.num_words, self.limits = torch.as_tensor(num_words), torch.as_tensor(limits)
        self.eos_token_id, self.prompt_length = eos_token_id, prompt_length
        short = torch.nonzero(self.limits < self.num_words + 1)
        if len(short):
            sentence = int(short[0])
            raise ValueError(
                f"{int(self.limits[sentence])} tokens are no room for a tree over {int(self.num_words[sentence])} "
                "words and its end: raise max_new_tokens (or max_len_b), or split the sentence."
            )
        size = max([eos_token_id, *symbols.values()]) + 1
        self.depth_change = torch.zeros(size, dtype=torch.long)
        self.is_tag = torch.zeros(size, dtype=torch.bool)
        self.closing_of = torch.full((size,), eos_token_id)  # never used where there is no closing
        for symbol, index in symbols.items():
            if symbol[0] == "(":
                self.depth_change[index] = 1
                self.closing_of[index] = symbols[f"){symbol[1:]}"]
            elif symbol[0] == ")":
                self.depth_change[index] = -1
            else:
                self.is_tag[index] = True
        self.is_opening = self.depth_change == 1

    def select(self, sentences: torch.Tensor | Sequence[int]) -> "TreeConstraint":
        """The constraint of some of the sentences only, in the order given: int64 [b]."""
        chosen = object.__new__(type(self))
        chosen.__dict__ = dict(self.__dict__)
        index = torch.as_tensor(sentences, device=self.num_words.device)
        chosen.num_words, chosen.limits = self.num_words[index], self.limits[index]
        return chosen

    def to(self, device: torch.device) -> "TreeConstraint":
        """Move the tables to where the scores are; returns itself."""
        if self.num_words.device != device:
            for name, value in self.__dict__.items():
                if isinstance(value, torch.Tensor):
                    setattr(self, name, value.to(device))
        return self

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """input_ids [B * k, T], the k candidates of a sentence in consecutive rows; scores [B * k, V] -> masked."""
        self.to(scores.device)
        candidates, rest = divmod(input_ids.shape[0], self.num_words.shape[0])
        if rest:
            raise ValueError(
                f"{input_ids.shape[0]} rows are no multiple of the {self.num_words.shape[0]} sentences of this "
                "TreeConstraint."
            )
        words = self.num_words.repeat_interleave(candidates)
        room = self.limits.repeat_interleave(candidates)
        output = input_ids[:, self.prompt_length :]
        # A beam wider than the number of trees holds candidates of probability 0, with any symbols of the vocabulary.
        output = output.masked_fill(output >= self.is_tag.shape[0], self.eos_token_id)
        rows = torch.arange(len(output), device=output.device)
        if output.shape[1]:
            change = self.depth_change[output]
            depths = change.cumsum(-1)
            depth = depths[:, -1]
            words = words - self.is_tag[output].sum(-1)
            room = room - output.shape[1]
            # The innermost open bracket is the last one that led to the depth we are at.
            opened = (change == 1) & (depths == depth[:, None])
            positions = torch.arange(1, output.shape[1] + 1, device=output.device)
            innermost = (opened * positions).argmax(-1)
            closing = self.closing_of[output[rows, innermost]]
            may_close = (depth > 0) & (change[:, -1] != 1)
        else:
            depth = torch.zeros_like(words)
            closing = torch.full_like(words, self.eos_token_id)
            may_close = torch.zeros_like(words, dtype=torch.bool)
        left = words > 0
        # At the least there follow a tag for every word left, all closings and the end; a phrase adds two symbols.
        may_open = left & (room >= words + depth + 1 + 2)
        size = self.is_tag.shape[0]
        allowed = torch.zeros(scores.shape, dtype=torch.bool, device=scores.device)
        allowed[:, :size] = (self.is_tag & left[:, None]) | (self.is_opening & may_open[:, None])
        allowed[rows, closing] |= may_close
        allowed[:, self.eos_token_id] = ~left & (depth == 0)
        return scores.masked_fill(~allowed, float("-inf"))  # type: ignore[return-value]


__all__ = ["TreeConstraint"]
