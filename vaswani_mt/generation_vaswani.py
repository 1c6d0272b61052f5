"""Generation as section 6.1 of "Attention Is All You Need" describes it, behind transformers' `generate`."""

from dataclasses import dataclass
from typing import Any, cast

import torch
from transformers.generation import (
    EosTokenCriteria,
    GenerationMixin,
    LogitsProcessorList,
    MaxLengthCriteria,
    MinLengthLogitsProcessor,
    MinNewTokensLengthLogitsProcessor,
    StoppingCriteria,
    StoppingCriteriaList,
    SuppressTokensLogitsProcessor,
)
from transformers.generation.utils import GenerateBeamEncoderDecoderOutput, GenerateEncoderDecoderOutput

from .decoding_vaswani import DecoderWeights, EnsembleDecoder, IncrementalDecoder, can_step
from .search_vaswani import BeamSearch

# transformers' processors that treat each row by itself, so that rows may leave between steps.
ROW_BY_ROW = (
    "ExponentialDecayLengthPenalty",
    "ForcedBOSTokenLogitsProcessor",
    "ForcedEOSTokenLogitsProcessor",
    "InfNanRemoveLogitsProcessor",
    "LogitNormalization",
    "MinPLogitsWarper",
    "NoBadWordsLogitsProcessor",
    "NoRepeatNGramLogitsProcessor",
    "RepetitionPenaltyLogitsProcessor",
    "SequenceBiasLogitsProcessor",
    "SuppressTokensAtBeginLogitsProcessor",
    "TemperatureLogitsWarper",
    "TopKLogitsWarper",
    "TopPLogitsWarper",
    "TypicalLogitsWarper",
)

# Fields of the generation configuration beyond transformers' own, and their values where none is set.
FIELDS = {"length_penalty_type": "gnmt", "max_len_a": 1.0, "max_len_b": 50, "return_attention": False}
ALPHA = 0.6  # the paper's, of translation (section 6.1)


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


@dataclass
class VaswaniBeamOutput(GenerateBeamEncoderDecoderOutput):
    """transformers' output of beam search, and with `return_attention`:

    source_attention: [sequences, T, layers, S] float32, how much each generated symbol attends to each source
        position in each layer, mean over the heads; zero after the end.
    """

    source_attention: torch.Tensor | None = None


@dataclass
class VaswaniGreedyOutput(GenerateEncoderDecoderOutput):
    """transformers' output of greedy search and sampling, and `source_attention` as in `VaswaniBeamOutput`."""

    source_attention: torch.Tensor | None = None


class _Constraints:
    """What is asked of the next symbol, and which part of it a search can do by itself.

    Forbidden symbols and a least length only strike out symbols. All else needs every log-probability, and the rows of
    all sentences at every step unless it says how to go on with some: `select(sentences)`.
    """

    def __init__(self, processors: LogitsProcessorList, never: list[int]):
        self.never = never
        self.others, self.until = LogitsProcessorList(), []
        for processor in processors:
            if type(processor) is SuppressTokensLogitsProcessor:
                self.never = self.never + processor.suppress_tokens.flatten().tolist()
            elif type(processor) is MinLengthLogitsProcessor:
                self.until.append((processor.min_length, processor.eos_token_id.tolist()))
            elif type(processor) is MinNewTokensLengthLogitsProcessor:
                least = processor.prompt_length_to_skip + processor.min_new_tokens
                self.until.append((least, processor.eos_token_id.tolist()))
            else:
                self.others.append(processor)

    @property
    def can_select(self) -> bool:
        return all(type(p).__name__ in ROW_BY_ROW or hasattr(p, "select") for p in self.others)

    def select(self, sentences: torch.Tensor) -> None:
        """Go on with the sentences of these places (int64)."""
        self.others = LogitsProcessorList(
            [p.select(sentences) if hasattr(p, "select") else p for p in self.others]  # type: ignore[union-attr]
        )

    def forbidden(self, length: int) -> list[int]:
        """Symbols that may not follow `length` symbols, prompt included."""
        return self.never + [symbol for least, ends in self.until if length < least for symbol in ends]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """input_ids [rows, T], scores [rows, V] -> scores, -inf where forbidden."""
        forbidden = self.forbidden(input_ids.shape[1])
        if forbidden:
            scores = scores.index_fill(1, torch.tensor(forbidden, device=scores.device), float("-inf"))
        return self.others(cast(torch.LongTensor, input_ids), cast(torch.FloatTensor, scores))


class _StepOutputs:
    """What each step leaves for the output object of `generate`."""

    def __init__(self, generation_config):
        config, wanted = generation_config, generation_config.return_dict_in_generate
        self.scores: tuple | None = () if wanted and config.output_scores else None
        self.logits: tuple | None = () if wanted and config.output_logits else None
        self.of_model: dict[str, tuple] = {}
        if wanted and config.output_attentions:
            self.of_model |= {"decoder_attentions": (), "cross_attentions": ()}
        if wanted and config.output_hidden_states:
            self.of_model |= {"decoder_hidden_states": ()}
        self.attention: list[torch.Tensor] = []  # a step's [B, w, layers, S]

    @property
    def any_scores(self) -> bool:
        return self.scores is not None or self.logits is not None

    def add(self, decoder: Any, logits: torch.Tensor, scores: torch.Tensor) -> None:
        """logits, scores: [rows, V] before and after the logits processors."""
        if self.logits is not None:
            self.logits += (logits.clone(),)
        if self.scores is not None:
            self.scores += (scores.clone(),)
        for name in self.of_model:
            self.of_model[name] += (getattr(decoder.outputs, name),)

    def add_attention(self, decoder: Any, active: torch.Tensor, batch: int) -> None:
        """active: [A] which of the `batch` sentences the rows of the decoder belong to."""
        if decoder.attention is not None:
            attention = decoder.attention.unflatten(0, (len(active), -1))
            whole = attention.new_zeros((batch, *attention.shape[1:]))
            self.attention.append(whole.index_copy_(0, active, attention))

    def source_attention(self, sentences: torch.Tensor, beams: torch.Tensor) -> torch.Tensor | None:
        """sentences [n], beams [n, T] (below 0: none) that each symbol came from -> [n, T, layers, S]."""
        if not self.attention:
            return None
        picked = [step[sentences, beam.clamp(min=0)] for step, beam in zip(self.attention, beams.T, strict=False)]
        return torch.stack(picked, 1) * (beams >= 0)[..., None, None]

    def common(self, encoder_outputs: Any) -> dict[str, Any]:
        """Arguments that the output objects of beam search and sampling share."""
        of_encoder = {}
        if "decoder_attentions" in self.of_model:
            of_encoder["encoder_attentions"] = encoder_outputs.get("attentions")
        if "decoder_hidden_states" in self.of_model:
            of_encoder["encoder_hidden_states"] = encoder_outputs.get("hidden_states")
        return {"scores": self.scores, "logits": self.logits, **self.of_model, **of_encoder}


class _ModelDecoder:
    """The model's own forward as the decoder of a search: for what `IncrementalDecoder` does not compute."""

    attention = None

    def __init__(self, model: Any, input_ids: torch.Tensor, generation_config, model_kwargs: dict[str, Any]):
        self.model, self.input_ids = model, input_ids
        self.generation_config, self.model_kwargs = generation_config, model_kwargs
        self.outputs: Any = None

    def log_probs(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `IncrementalDecoder.log_probs`."""
        if self.outputs is None:
            self.outputs = self.model._prefill(self.input_ids, self.generation_config, self.model_kwargs)
        else:
            self.input_ids = torch.cat([self.input_ids, tokens[:, None]], 1)
            inputs = self.model.prepare_inputs_for_generation(
                self.input_ids,
                next_sequence_length=1 if self.model_kwargs["use_cache"] else None,
                **self.model_kwargs,
            )
            self.outputs = self.model(**inputs, return_dict=True)
        self.model_kwargs = self.model._update_model_kwargs_for_generation(
            self.outputs, self.model_kwargs, is_encoder_decoder=True
        )
        logits = self.outputs.logits[:, -1].float()
        return logits, logits.log_softmax(-1)

    def follow(self, parents: torch.Tensor) -> None:
        """As `IncrementalDecoder.follow`."""
        width = parents.shape[1]
        rows = (parents + torch.arange(len(parents), device=parents.device)[:, None] * width).flatten()
        self.input_ids = self.input_ids[rows]
        cache = self.model_kwargs.get("past_key_values")
        if cache is not None:
            cache.reorder_cache(rows)


class VaswaniGenerationMixin(GenerationMixin):
    """`generate` with the search of section 6.1.

    Fields of the generation configuration, all saved with the model and all arguments of `generate` too:

    - `length_penalty`: alpha; 0.6 where none is set.
    - `length_penalty_type`: "gnmt" (default, the paper's) or "length" (transformers' own); see `length_penalty`.
    - `early_stopping`: not set (default): a sentence ends when its best outputs are provably found, as in
      tensor2tensor; True, False, "never": transformers' three rules. See `BeamSearch`.
    - `max_len_a` (1), `max_len_b` (50): at most max_len_a * source length + max_len_b tokens a sentence, where neither
      max_length nor max_new_tokens is set.
    - `return_attention` (False): also return `source_attention`; see `VaswaniBeamOutput`.

    `generate(..., ensemble=[model, ...])` decodes with the mean of the log-probabilities of several models of one
    vocabulary. Padding is never generated.
    """

    # --- What generate asks for before it decodes ---

    def _prepare_generation_config(self, generation_config, **kwargs):
        given = {name: kwargs.pop(name) for name in FIELDS if name in kwargs}
        sources = [generation_config, self.generation_config]
        unset = {
            name
            for name in ("early_stopping", "length_penalty")
            if kwargs.get(name) is None and all(getattr(source, name, None) is None for source in sources)
        }
        prepare: Any = super()._prepare_generation_config  # type: ignore[misc]
        config, model_kwargs = prepare(generation_config, **kwargs)
        for name, default in FIELDS.items():
            setattr(config, name, given.get(name, getattr(config, name, default)))
        # A generation configuration written by hand need not repeat the special symbols of the model's.
        for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
            if getattr(config, name) is None:
                setattr(config, name, getattr(self.config, name))  # type: ignore[attr-defined]
        if "early_stopping" in unset:
            config.early_stopping = None
        if "length_penalty" in unset and config.length_penalty_type == "gnmt":
            config.length_penalty = ALPHA
        if config.return_attention:
            config.return_dict_in_generate = True
        return config, model_kwargs

    def _validate_model_kwargs(self, model_kwargs: dict[str, Any]):
        validate: Any = super()._validate_model_kwargs  # type: ignore[misc]
        validate({name: value for name, value in model_kwargs.items() if name != "ensemble"})

    def _maybe_prepare_encoder_kwargs_for_generation(self, inputs_tensor, model_kwargs, *args, **kwargs):
        # Each member of an ensemble encodes the source by itself.
        members = model_kwargs.pop("ensemble", None) or ()
        prepare = super()._maybe_prepare_encoder_kwargs_for_generation  # type: ignore[misc]
        states = []
        for member in members:
            if member.config.target_vocab_size != self.config.target_vocab_size:  # type: ignore[attr-defined]
                raise ValueError(
                    f"The models of an ensemble need one vocabulary: one has {member.config.target_vocab_size} target "
                    f"symbols, another {self.config.target_vocab_size}."  # type: ignore[attr-defined]
                )
            encode = GenerationMixin._maybe_prepare_encoder_kwargs_for_generation  # type: ignore[attr-defined]
            encoded = encode(member, inputs_tensor, dict(model_kwargs), *args, **kwargs)
            states.append((member, encoded["encoder_outputs"].last_hidden_state))
        model_kwargs = prepare(inputs_tensor, model_kwargs, *args, **kwargs)
        if states:
            model_kwargs["ensemble"] = states
        return model_kwargs

    def _prepare_generated_length(  # type: ignore[override]
        self, generation_config, has_default_max_length, *args, input_ids_length, inputs_tensor, **kwargs
    ):
        if has_default_max_length and generation_config.max_new_tokens is None and inputs_tensor is not None:
            if inputs_tensor.dim() == 2:
                lengths = (inputs_tensor != self.config.pad_token_id).sum(-1)  # type: ignore[attr-defined]
            else:
                lengths = torch.full((inputs_tensor.shape[0],), inputs_tensor.shape[1])  # embeddings, states
            limit = SourceLengthCriteria(
                lengths, generation_config.max_len_a, generation_config.max_len_b, prompt_length=input_ids_length
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

    # --- Decoders ---

    def _incremental_decoder(
        self, input_ids: torch.Tensor, rows: int, generation_config, model_kwargs: dict[str, Any], **how: Any
    ) -> IncrementalDecoder | EnsembleDecoder | None:
        """A decoder of B sentences that has read the prompt but for its last symbol; None if the model has to do it.

        Args:
            input_ids: [B * rows, prompt]; the encoder's output in `model_kwargs` has B * rows rows as well.
        """
        members = [(self, model_kwargs["encoder_outputs"][0][::rows]), *model_kwargs.pop("ensemble", ())]
        cache = model_kwargs.get("past_key_values")
        asked_for_more = (
            generation_config.output_attentions
            or generation_config.output_hidden_states
            or not generation_config.use_cache
            or generation_config.cache_implementation is not None
            or (cache is not None and (getattr(cache, "_is_user_defined", False) or cache.get_seq_length() > 0))
            or any(model_kwargs.get(name) is not None for name in ("decoder_attention_mask", "decoder_inputs_embeds"))
        )
        able = not asked_for_more and all(can_step(member) for member, _ in members)
        if not able:
            if len(members) > 1 or generation_config.return_attention:
                raise ValueError(
                    "ensemble and return_attention need plain models in evaluation mode, each on one device, with "
                    "use_cache and without output_attentions, output_hidden_states, a cache of earlier calls or a "
                    "mask on the decoder's prompt."
                )
            return None
        mask = model_kwargs.get("attention_mask")
        mask = None if mask is None else mask[::rows]
        decoders = [IncrementalDecoder(DecoderWeights.of(member), states, mask, **how) for member, states in members]
        decoder = decoders[0] if len(decoders) == 1 else EnsembleDecoder(decoders)
        width = how.get("width", 1)
        for column in range(input_ids.shape[1] - 1):
            decoder.read(input_ids[:, column] if width == rows else input_ids[::rows, column])
        return decoder

    def _never(self, generation_config) -> list[int]:
        """Padding, unless it is the end symbol as well."""
        pad, ends = generation_config._pad_token_tensor, generation_config._eos_token_tensor
        return [] if pad is None or (ends is not None and pad in ends) else [int(pad)]

    # --- Searches ---

    @staticmethod
    def _limits(criteria: StoppingCriteriaList, batch: int, prompt: int, device) -> torch.Tensor:
        """[B] int64: most symbols that the length criteria let each sentence generate."""
        limits = torch.full((batch,), torch.iinfo(torch.int64).max, device=device)
        for criterion in criteria:
            if isinstance(criterion, MaxLengthCriteria):
                limits.clamp_(max=criterion.max_length - prompt)
            elif isinstance(criterion, SourceLengthCriteria):
                limits = torch.minimum(limits, criterion.limits.to(device))
        return limits

    @staticmethod
    def _other_criteria(criteria: StoppingCriteriaList) -> StoppingCriteriaList:
        known = MaxLengthCriteria | EosTokenCriteria | SourceLengthCriteria
        return StoppingCriteriaList([c for c in criteria if not isinstance(c, known)])

    def _beam_search(  # type: ignore[override]
        self,
        input_ids: torch.LongTensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config,
        synced_gpus: bool = False,
        **model_kwargs,
    ) -> VaswaniBeamOutput | torch.LongTensor:
        """As `GenerationMixin._beam_search`, with the fields that the class adds; see `BeamSearch`.

        Args:
            input_ids: [B * k, prompt], the prompt of each sentence k times.

        Returns:
            sequences [B * num_return_sequences, length], or the output object with them and, unlike transformers',
            always with their scores.
        """
        config, k, (rows, prompt) = generation_config, generation_config.num_beams, input_ids.shape
        batch, device = rows // k, input_ids.device
        outputs, others = _StepOutputs(config), self._other_criteria(stopping_criteria)
        constraints = _Constraints(logits_processor, self._never(config))
        encoder_outputs = model_kwargs["encoder_outputs"]
        # These look at every log-probability of every hypothesis; without them k equal ones at the start are one.
        whole = bool(constraints.others or others or config.do_sample or outputs.any_scores)
        shrinks = constraints.can_select and not others and not outputs.any_scores
        width = k if whole else 1
        decoder: Any = None
        if not synced_gpus:
            keep = config.return_attention
            decoder = self._incremental_decoder(input_ids, k, config, model_kwargs, width=width, keep_attention=keep)
        if decoder is None:
            decoder = _ModelDecoder(self, input_ids, config, model_kwargs)
            whole, shrinks, width = True, False, k
        ends = config._eos_token_tensor
        search = BeamSearch(
            self._limits(stopping_criteria, batch, prompt, device),
            k,
            config.num_return_sequences,
            input_ids.new_empty(0) if ends is None else ends.to(device),
            width=width,
            alpha=config.length_penalty,
            penalty=config.length_penalty_type,
            early_stopping=config.early_stopping,
            longest=config.max_length - prompt,
        )
        sequences = input_ids.view(batch, k, prompt)[:, :width]
        last, length, finished = sequences[..., -1].flatten(), prompt, False
        while self._has_unfinished_sequences(finished, synced_gpus, device=device):  # type: ignore[attr-defined]
            if whole:
                logits, log_probs = decoder.log_probs(last)
                if finished:  # other processes are not, and need this one's part of the forward pass
                    continue
                log_probs = constraints(sequences.flatten(0, 1), log_probs)
                outputs.add(decoder, logits, log_probs)
                candidates = search.candidates(log_probs, sample=config.do_sample)
            else:
                forbidden = constraints.forbidden(length)
                values, symbols = decoder.best(last, search.num_candidates + len(forbidden))
                values = values.masked_fill(torch.isin(symbols, symbols.new_tensor(forbidden)), float("-inf"))
                candidates = search.candidates(values, symbols)
            outputs.add_attention(decoder, search.active, batch)
            stopped = None
            if others:
                extended = _extended(sequences, candidates.parents, candidates.symbols).flatten(0, 1)
                stopped = others(cast(torch.LongTensor, extended), cast(Any, outputs.scores))
                stopped = stopped.view_as(candidates.parents)
            parents, symbols = search.advance(candidates, stopped)
            if whole:
                sequences = _extended(sequences, parents, symbols)
            length += 1
            number_done = int(search.done.sum())
            finished = number_done == len(search.done)
            if finished and not synced_gpus:
                break
            decoder.follow(parents)
            # To leave sentences out costs about as much as a step: not for a few.
            if shrinks and number_done * 8 >= len(search.done):
                going_on = (~search.done).nonzero()[:, 0]
                for part in (search, decoder):
                    part.keep(going_on)
                constraints.select(going_on)
                symbols, sequences = symbols[going_on], sequences[going_on] if whole else sequences
            last = symbols.flatten()
        found = search.result(fill=self._fill(config))
        n = config.num_return_sequences
        sequences = torch.cat([input_ids.view(batch, k, prompt)[:, :n].flatten(0, 1), found.symbols], 1)
        if not config.return_dict_in_generate:
            return cast(torch.LongTensor, sequences)
        sentences = torch.arange(batch, device=device).repeat_interleave(n)
        return VaswaniBeamOutput(
            sequences=cast(torch.LongTensor, sequences),
            sequences_scores=cast(torch.FloatTensor, found.scores),
            beam_indices=cast(torch.LongTensor, found.rows),
            source_attention=outputs.source_attention(sentences, found.rows - sentences[:, None] * k),
            past_key_values=model_kwargs.get("past_key_values"),
            **outputs.common(encoder_outputs),
        )

    def _sample(  # type: ignore[override]
        self,
        input_ids: torch.LongTensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config,
        synced_gpus: bool = False,
        streamer=None,
        **model_kwargs,
    ) -> VaswaniGreedyOutput | torch.LongTensor:
        """As `GenerationMixin._sample`: greedy search and sampling, a sentence leaving the batch when it is finished.

        Args:
            input_ids: [B * num_return_sequences, prompt].
        """
        config, n, (rows, prompt) = generation_config, generation_config.num_return_sequences, input_ids.shape
        constraints = _Constraints(logits_processor, self._never(config))
        decoder: Any = None
        if not synced_gpus and not config.is_assistant:
            keep = config.return_attention
            decoder = self._incremental_decoder(
                input_ids, n, config, model_kwargs, width=n, shared=n == 1, keep_attention=keep
            )
        if decoder is None:
            return super()._sample(  # type: ignore[misc, return-value]
                input_ids,
                LogitsProcessorList([constraints]),  # type: ignore[list-item]
                stopping_criteria,
                generation_config,
                synced_gpus=synced_gpus,
                streamer=streamer,
                **model_kwargs,
            )
        batch, device, ends = rows // n, input_ids.device, config._eos_token_tensor
        outputs, others = _StepOutputs(config), self._other_criteria(stopping_criteria)
        whole = bool(constraints.others or config.do_sample or outputs.any_scores)
        shrinks = constraints.can_select and not others and not outputs.any_scores
        limits = self._limits(stopping_criteria, batch, prompt, device).repeat_interleave(n)
        active = torch.arange(batch, device=device)  # sentences
        unfinished = torch.ones(rows, dtype=torch.bool, device=device)
        sequences: torch.Tensor = input_ids
        while bool(unfinished.any()):
            here = (active[:, None] * n + torch.arange(n, device=device)).flatten()  # their rows
            last = sequences[here, -1]
            if whole:
                logits, _ = decoder.log_probs(last)
                scores = constraints(sequences[here], logits)
                outputs.add(decoder, logits, scores)
                chosen = torch.multinomial(scores.softmax(-1), 1)[:, 0] if config.do_sample else scores.argmax(-1)
            else:
                forbidden = constraints.forbidden(sequences.shape[1])
                values, symbols = decoder.best(last, 1 + len(forbidden))
                values = values.masked_fill(torch.isin(symbols, symbols.new_tensor(forbidden)), float("-inf"))
                chosen = symbols.gather(1, values.argmax(-1, keepdim=True))[:, 0]
            outputs.add_attention(decoder, active, batch)
            column = sequences.new_full((rows,), self._fill(config))
            column[here] = torch.where(unfinished[here], chosen, column[here])
            sequences = torch.cat([sequences, column[:, None]], 1)
            if ends is not None:
                unfinished &= ~torch.isin(column, ends.to(device))
            unfinished &= sequences.shape[1] - prompt < limits
            if others:
                unfinished &= ~others(cast(torch.LongTensor, sequences), cast(Any, outputs.scores))
            if streamer is not None:
                streamer.put(column.cpu())
            going_on = unfinished[here].view(-1, n).any(1)
            if shrinks and 0 < int(going_on.sum()) * 8 <= len(going_on) * 7:
                places = going_on.nonzero()[:, 0]
                active = active[places]
                decoder.keep(places)
                constraints.select(places)
        if streamer is not None:
            streamer.end()
        if not config.return_dict_in_generate:
            return cast(torch.LongTensor, sequences)
        samples = torch.arange(rows, device=device)
        lengths = (sequences[:, prompt:] != self._fill(config)).sum(1, keepdim=True)
        steps = torch.arange(sequences.shape[1] - prompt, device=device)
        beams = torch.where(steps < lengths, (samples % n)[:, None], -1)
        return VaswaniGreedyOutput(
            sequences=cast(torch.LongTensor, sequences),
            source_attention=outputs.source_attention(samples // n, beams),
            past_key_values=model_kwargs.get("past_key_values"),
            **outputs.common(model_kwargs["encoder_outputs"]),
        )

    @staticmethod
    def _fill(generation_config) -> int:
        """What follows the end symbol."""
        pad, ends = generation_config._pad_token_tensor, generation_config._eos_token_tensor
        return int(pad) if pad is not None else int(ends[0]) if ends is not None else 0


def _extended(sequences: torch.Tensor, parents: torch.Tensor, symbols: torch.Tensor) -> torch.Tensor:
    """sequences [A, w, T] of hypotheses, continued: parents and symbols [A, n] -> [A, n, T + 1]."""
    history = sequences.gather(1, parents[..., None].expand(-1, -1, sequences.shape[2]))
    return torch.cat([history, symbols[..., None]], -1)


__all__ = ["SourceLengthCriteria", "VaswaniBeamOutput", "VaswaniGenerationMixin", "VaswaniGreedyOutput"]
