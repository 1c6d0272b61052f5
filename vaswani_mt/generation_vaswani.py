"""Generation as section 6.1 of "Attention Is All You Need" describes it."""

from typing import cast

import torch
from transformers.generation import GenerationMixin, StoppingCriteria


class SourceLengthCriteria(StoppingCriteria):
    """Stop each sentence after `max_len_a` x (its source length) + `max_len_b` generated tokens.

    Section 6.1 sets "the maximum output length during inference to input length + 50", the defaults here. transformers
    has only limits for a whole batch (`max_new_tokens`), with which a sentence's translation could depend on the
    sentences it shares a batch with. tensor2tensor, the paper's code, counts the encoded source, end symbol included;
    so does the generated side, whose end symbol counts while the start symbol does not.

    Args:
        source_lengths: [B] number of source tokens that are not padding.
        max_len_a, max_len_b: the limit's slope and constant; a fraction of a token is dropped.
        prompt_length: number of decoder tokens before the first generated one.

    Raises:
        ValueError: on a call with a number of rows that is no multiple of B.
    """

    def __init__(
        self, source_lengths: torch.Tensor, max_len_a: float = 1.0, max_len_b: int = 50, prompt_length: int = 1
    ):
        self.limits = (source_lengths * max_len_a).long() + max_len_b
        self.prompt_length = prompt_length

    def __call__(
        self, input_ids: torch.LongTensor, scores: tuple[torch.Tensor, ...] | None, **kwargs
    ) -> torch.BoolTensor:
        """input_ids [B * k, T], the k candidates of a sentence in k consecutive rows -> [B * k], True: stop here."""
        candidates, rest = divmod(input_ids.shape[0], self.limits.shape[0])
        if rest:
            raise ValueError(
                f"{input_ids.shape[0]} rows are no multiple of the {self.limits.shape[0]} sentences whose source "
                "lengths were given to SourceLengthCriteria."
            )
        reached = input_ids.shape[1] - self.prompt_length >= self.limits.to(input_ids.device)
        return cast(torch.BoolTensor, reached.repeat_interleave(candidates))


class VaswaniGenerationMixin(GenerationMixin):
    """`generate` with the length limit of section 6.1: max_len_a * source length + max_len_b tokens a sentence.

    `max_len_a` (default 1) and `max_len_b` (default 50) are fields of the generation configuration. They hold where
    neither max_length nor max_new_tokens is set.
    """

    def _prepare_generated_length(  # type: ignore[override]
        self, generation_config, has_default_max_length, *args, input_ids_length, inputs_tensor, **kwargs
    ):
        if has_default_max_length and generation_config.max_new_tokens is None and inputs_tensor is not None:
            if inputs_tensor.dim() == 2:
                lengths = (inputs_tensor != self.config.pad_token_id).sum(-1)  # type: ignore[attr-defined]
            else:
                lengths = torch.full((inputs_tensor.shape[0],), inputs_tensor.shape[1])  # embeddings, states
            limit = SourceLengthCriteria(
                lengths,
                getattr(generation_config, "max_len_a", 1.0),
                getattr(generation_config, "max_len_b", 50),
                prompt_length=input_ids_length,
            )
            generation_config.max_new_tokens = int(limit.limits.max())
            # The configuration is this call's own copy, and the next thing that transformers asks for criteria with.
            generation_config._source_length_criteria = limit
        return super()._prepare_generated_length(  # type: ignore[misc]
            generation_config,
            has_default_max_length,
            *args,
            input_ids_length=input_ids_length,
            inputs_tensor=inputs_tensor,
            **kwargs,
        )

    def _get_stopping_criteria(self, generation_config, stopping_criteria=None, *args, **kwargs):
        criteria = super()._get_stopping_criteria(  # type: ignore[misc]
            generation_config, stopping_criteria, *args, **kwargs
        )
        limit = generation_config.__dict__.pop("_source_length_criteria", None)
        if limit is not None and not any(isinstance(criterion, SourceLengthCriteria) for criterion in criteria):
            criteria.append(limit)
        return criteria


__all__ = ["SourceLengthCriteria", "VaswaniGenerationMixin"]
