"""The decoder one target position at a time: what beam search, greedy search and sampling call at every step.

The modules of `modeling_vaswani` compute any number of positions at once, for training. Here the same weights are laid
out for one position a step: one product for queries, keys and values, the encoder's keys and values once per sentence
with its hypotheses as further queries, and a history that the hypotheses of a sentence share.

Shapes: A sentences still being decoded, w hypotheses a sentence, S source positions, h heads, V target symbols.
"""

import weakref
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import nn
from torch.nn import functional as F

# --- Weights ---------------------------------------------------------------------------------------------------------

_PACKED = torch.ops.mkldnn  # oneDNN's products; inductor calls the same two operators


def _packs(weight: torch.Tensor) -> bool:
    """Whether oneDNN gains from a copy of `weight` in its own order: in bfloat16 it reorders at every product else."""
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.bfloat16
        and torch.backends.mkldnn.is_available()
        and hasattr(_PACKED, "_linear_pointwise")
        and hasattr(_PACKED, "_reorder_linear_weight")
        and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    )


class _Linear:
    """x W^T + b, with W and b those of several `nn.Linear` stacked, then perhaps an activation function."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, activation: nn.Module | None = None):
        self.activation = activation
        self.bias = bias
        self.size = weight.shape[0]
        self.packed = _packs(weight)
        self.weight = _PACKED._reorder_linear_weight(weight.contiguous(), 128) if self.packed else weight

    @classmethod
    def of(cls, *modules: nn.Linear, activation: nn.Module | None = None) -> "_Linear":
        if len(modules) == 1:
            return cls(modules[0].weight, modules[0].bias, activation)
        biases = [module.bias for module in modules]
        weight = torch.cat(tuple(module.weight for module in modules))
        return cls(weight, None if biases[0] is None else torch.cat(tuple(biases)), activation)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """[rows, in] -> [rows, out]."""
        if self.packed:
            fused = "relu" if isinstance(self.activation, nn.ReLU) else "none"
            output = _PACKED._linear_pointwise(states, self.weight, self.bias, fused, [], "")
            if fused == "relu":
                return output
        else:
            output = F.linear(states, self.weight, self.bias)
        return output if self.activation is None else self.activation(output)


class _Norm:
    """LayerNorm(x + Sublayer(x)) (section 3.1)."""

    def __init__(self, module: nn.LayerNorm):
        self.weight, self.bias, self.eps, self.shape = module.weight, module.bias, module.eps, module.normalized_shape

    def __call__(self, states: torch.Tensor, update: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(states + update, self.shape, self.weight, self.bias, self.eps)


class _Layer:
    """One decoder layer's products and norms."""

    def __init__(self, layer: Any):
        own, cross, inner = layer.self_attn, layer.encoder_attn, layer.feed_forward
        self.d_k, self.d_v, self.scaling = own.d_k, own.d_v, own.scaling
        self.qkv = _Linear.of(own.q_proj, own.k_proj, own.v_proj)
        self.own_out, self.own_norm = _Linear.of(own.out_proj), _Norm(layer.self_attn_residual.layer_norm)
        self.cross_q, self.cross_kv = _Linear.of(cross.q_proj), _Linear.of(cross.k_proj, cross.v_proj)
        self.cross_out, self.cross_norm = _Linear.of(cross.out_proj), _Norm(layer.encoder_attn_residual.layer_norm)
        self.fc1, self.fc2 = _Linear.of(inner.fc1, activation=inner.activation), _Linear.of(inner.fc2)
        self.inner_norm = _Norm(layer.feed_forward_residual.layer_norm)


class _Projection:
    """The pre-softmax projection (section 3.4): log-probabilities of all symbols, or of the best few.

    On CPU the vocabulary is taken a piece at a time, so that the logits stay in the cache: their log-sum-exp, and the
    best few by way of the maxima of blocks of symbols, cost less than one sort of all of them.
    """

    PIECE, BLOCK = 16384, 64

    def __init__(self, lm_head: nn.Linear):
        self.size = lm_head.out_features
        self.by_pieces = lm_head.weight.device.type == "cpu"
        if not self.by_pieces:
            self.pieces = [_Linear.of(lm_head)]
            return
        # Columns that fill up the last block have a bias of -inf: no probability, never chosen.
        missing = -self.size % self.BLOCK
        weight = F.pad(lm_head.weight, (0, 0, 0, missing))
        bias: torch.Tensor | None = lm_head.bias
        if missing:
            bias = weight.new_zeros(self.size) if bias is None else bias
            bias = F.pad(bias, (0, missing), value=float("-inf"))
        number = -(-weight.shape[0] // self.PIECE)
        step = -(-weight.shape[0] // (number * self.BLOCK)) * self.BLOCK
        biases = [None] * number if bias is None else bias.split(step)
        self.pieces = [_Linear(w, b) for w, b in zip(weight.split(step), biases, strict=True)]

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """[rows, d_model] -> float32 [rows, V]."""
        parts = [piece(states) for piece in self.pieces]
        whole = parts[0] if len(parts) == 1 else torch.cat(parts, -1)
        return whole[:, : self.size].float()

    def best(self, states: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """[rows, d_model] -> the `count` largest log-probabilities, float32, and their symbols: both [rows, count].

        They come in no order.
        """
        if not self.by_pieces:
            logits = self.logits(states)
            values, symbols = logits.topk(count, -1)
            return values - logits.logsumexp(-1, keepdim=True), symbols
        rows, first = states.shape[0], 0
        total = states.new_full((rows, 1), float("-inf"), dtype=torch.float32)
        found_values, found_symbols = [], []
        # One piece of memory for all pieces: new memory costs more than what is computed in it.
        memory = states.new_empty((rows, self.pieces[0].size), dtype=torch.float32)
        for piece in self.pieces:
            logits = memory[:, : piece.size].copy_(piece(states))
            blocks = logits.unflatten(-1, (-1, self.BLOCK))
            maxima = blocks.amax(-1)
            # The `count` largest of all lie in the `count` blocks with the largest maxima.
            chosen = maxima.topk(min(count, maxima.shape[1]), -1, sorted=False)[1]
            inside = blocks.gather(1, chosen[..., None].expand(-1, -1, self.BLOCK)).flatten(1)
            values, places = inside.topk(min(count, inside.shape[1]), -1, sorted=False)
            found_values.append(values)
            found_symbols.append(chosen.gather(1, places // self.BLOCK) * self.BLOCK + places % self.BLOCK + first)
            shift = maxima.amax(-1, keepdim=True)
            total = torch.logaddexp(total, shift + logits.sub_(shift).exp_().sum(-1, keepdim=True).log())
            first += logits.shape[1]
        values, symbols = torch.cat(found_values, -1), torch.cat(found_symbols, -1)
        if len(self.pieces) > 1:
            values, places = values.topk(min(count, values.shape[1]), -1, sorted=False)
            symbols = symbols.gather(1, places)
        return values - total, symbols


class DecoderWeights:
    """The decoder's weights in the layout of this module, in the dtype and on the device of the model."""

    def __init__(self, model: Any):
        decoder = model.model.decoder
        self.embedding = decoder.embed_tokens.weight
        self.scale, self.positions = decoder.embedding.scale, decoder.embedding.positions
        self.layers = [_Layer(layer) for layer in decoder.layers]
        self.projection = _Projection(model.lm_head)
        self.num_heads = model.config.decoder_attention_heads

    _kept: "weakref.WeakKeyDictionary[Any, tuple[Any, DecoderWeights]]" = weakref.WeakKeyDictionary()

    @classmethod
    def of(cls, model: Any) -> "DecoderWeights":
        """Those of `model`, made anew only when its weights have changed since the last call."""
        parameters = [*model.model.decoder.parameters(), *model.lm_head.parameters()]
        # Versions count changes in place, but not those made through `.data`, which the sums of samples betray.
        samples = torch.stack([p.detach().flatten()[::61].sum(dtype=torch.float32) for p in parameters]).tolist()
        key = [(p.data_ptr(), p.dtype, 0 if p.is_inference() else p._version) for p in parameters], samples
        kept = cls._kept.get(model)
        if kept is None or kept[0] != key:
            with torch.no_grad():
                kept = key, cls(model)
            cls._kept[model] = kept
        return kept[1]


def can_step(model: Any) -> bool:
    """Whether this module computes what `model` would: plain modules, on one device, without dropout or hooks."""
    if model.training or len({p.device for p in model.parameters()}) > 1:
        return False
    modules = [*model.model.decoder.modules(), model.lm_head]
    # transformers leaves its own hooks, which only look on, in any model that has once returned hidden states.
    hooks = [hook for m in modules for hook in (*m._forward_hooks.values(), *m._forward_pre_hooks.values())]
    if any(getattr(hook, "__module__", "") != "transformers.utils.output_capturing" for hook in hooks):
        return False
    if any(hasattr(module, "_hf_hook") for module in modules):  # accelerate's, which move weights about
        return False
    linear = [module for module in modules if isinstance(module, nn.Linear) or hasattr(module, "in_features")]
    return all(type(module) is nn.Linear for module in linear) and model.device.type != "meta"


# --- One position at a time ------------------------------------------------------------------------------------------


@dataclass
class _Memory:
    """Keys [G, C, h * d_k] and values [G, C, h * d_v] of a layer, for G groups of hypotheses and up to C positions."""

    keys: torch.Tensor
    values: torch.Tensor

    def write(self, keys: torch.Tensor, values: torch.Tensor, start: int, end: int) -> None:
        """keys, values: [G * (end - start), h * width]."""
        for memory, new in ((self.keys, keys), (self.values, values)):
            memory[:, start:end] = new.view(len(memory), end - start, -1)

    def select(self, groups: torch.Tensor) -> None:
        self.keys, self.values = self.keys.index_select(0, groups), self.values.index_select(0, groups)

    def rebuild(self, slots: torch.Tensor, capacity: int) -> None:
        """Keep slots [G, m] only, as the first ones, with room for `capacity`."""
        self.keys, self.values = (self._moved(tensor, slots, capacity) for tensor in (self.keys, self.values))

    @staticmethod
    def _moved(tensor: torch.Tensor, slots: torch.Tensor, capacity: int) -> torch.Tensor:
        groups, old, width = tensor.shape
        moved = tensor.new_empty((groups, capacity, width))
        rows = (slots + torch.arange(groups, device=slots.device)[:, None] * old).flatten()
        moved[:, : slots.shape[1]] = tensor.view(-1, width).index_select(0, rows).view(groups, -1, width)
        return moved


@dataclass
class IncrementalDecoder:
    """A batch of sentences, each with w hypotheses, decoded a position a call.

    The hypotheses of a sentence share one list of past positions ("slots"), and each knows which of them are its own:
    following another hypothesis changes a few bits instead of copying keys and values, and a position that all of them
    have in common, as most are a few steps back, is stored and read once.

    Args:
        weights: the decoder's.
        encoder_states: [A, S, d_model].
        encoder_mask: [A, S], 1 for tokens and 0 for padding, or None: no padding.
        width: w at the start.
        shared: whether hypotheses of a sentence come from each other (beam search) or are independent (samples).
        keep_attention: whether to keep the attention over the source of each step in `attention`.
    """

    weights: DecoderWeights
    encoder_states: torch.Tensor
    encoder_mask: torch.Tensor | None
    width: int = 1
    shared: bool = True
    keep_attention: bool = False
    position: int = 0
    filled: int = 0
    attention: torch.Tensor | None = None
    memories: list[_Memory] = field(default_factory=list)
    sources: list[_Memory] = field(default_factory=list)
    history: torch.Tensor | None = None
    source_mask: torch.Tensor | None = None

    def __post_init__(self):
        states = self.encoder_states.flatten(0, 1)
        sentences, length = self.encoder_states.shape[:2]
        heads = self.weights.num_heads
        if self.encoder_mask is not None and not bool((self.encoder_mask != 0).all()):
            hidden = torch.finfo(states.dtype).min
            self.source_mask = torch.where(self.encoder_mask[:, None, None, :] != 0, 0.0, hidden).to(states.dtype)
        for layer in self.weights.layers:
            both = layer.cross_kv(states).view(sentences, length, -1)
            parts = both.split([heads * layer.d_k, heads * layer.d_v], -1)
            self.sources.append(_Memory(*(part.contiguous() for part in parts)))
            groups = sentences if self.shared else sentences * self.width
            capacity = 32 + 8 * (self.width if self.shared else 0)
            self.memories.append(_Memory(*(states.new_empty((groups, capacity, part.shape[-1])) for part in parts)))
        self.history = torch.zeros((sentences, self.width, 0), dtype=torch.bool, device=states.device)
        del self.encoder_states  # its keys and values are all that is needed from here on

    def _heads(self, states: torch.Tensor) -> torch.Tensor:
        """[G, L, h * width] -> [G, h, L, width]."""
        return states.unflatten(-1, (self.weights.num_heads, -1)).transpose(1, 2)

    # --- what a search calls ---

    def log_probs(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Last symbols [A * w] -> logits and log-probabilities of the next ones, float32 [A * w, V]."""
        logits = self.weights.projection.logits(self._step(tokens))
        return logits, logits.log_softmax(-1)

    def best(self, tokens: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Last symbols [A * w] -> the `count` best log-probabilities and symbols of the next ones, in no order."""
        return self.weights.projection.best(self._step(tokens), min(count, self.weights.projection.size))

    def read(self, tokens: torch.Tensor) -> None:
        """Take in symbols [A * w] of a prompt without predicting the next ones."""
        self._step(tokens)

    def follow(self, parents: torch.Tensor) -> None:
        """Hypothesis j of sentence i goes on from hypothesis parents[i, j]; parents: [A, new w] int64."""
        assert self.history is not None
        assert self.shared
        self.width = parents.shape[1]
        self.history = self.history.gather(1, parents[..., None].expand(-1, -1, self.history.shape[2]))

    def keep(self, sentences: torch.Tensor) -> None:
        """Go on with the sentences of these places (int64) only."""
        assert self.history is not None
        self.history = self.history.index_select(0, sentences)
        if self.source_mask is not None:
            self.source_mask = self.source_mask.index_select(0, sentences)
        for memory in self.sources:
            memory.select(sentences)
        groups = sentences
        if not self.shared:
            groups = (sentences[:, None] * self.width + torch.arange(self.width, device=sentences.device)).flatten()
        for memory in self.memories:
            memory.select(groups)

    # --- one step ---

    def _step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Last symbols [A * w] -> the decoder's output [A * w, d_model] (section 3.1)."""
        weights = self.weights
        own_mask = self._make_room(len(tokens) // self.width)
        start, self.filled = self.filled, self.filled + (self.width if self.shared else 1)
        where = torch.tensor([self.position], device=tokens.device)
        self.position += 1
        states = F.embedding(tokens, weights.embedding) * weights.scale
        states = states + weights.positions(where, self.position).to(states.dtype)
        attention = []
        for layer, memory, source in zip(weights.layers, self.memories, self.sources, strict=True):
            query, key, value = layer.qkv(states).split(
                [weights.num_heads * width for width in (layer.d_k, layer.d_k, layer.d_v)], -1
            )
            memory.write(key, value, start, self.filled)
            keys, values = memory.keys[:, : self.filled], memory.values[:, : self.filled]
            attended, _ = self._attend(query, keys, values, own_mask, layer.scaling)
            states = layer.own_norm(states, layer.own_out(attended))
            attended, paid = self._attend(
                layer.cross_q(states), source.keys, source.values, self.source_mask, layer.scaling, self.keep_attention
            )
            attention.append(paid)
            states = layer.cross_norm(states, layer.cross_out(attended))
            states = layer.inner_norm(states, layer.fc2(layer.fc1(states)))
        if self.keep_attention:
            self.attention = torch.stack(cast(list[torch.Tensor], attention), 1)
        return states

    def _attend(
        self, query, keys, values, mask, scaling: float, wanted: bool = False
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Queries [G * q, h * d_k] over keys [G, n, h * d_k]: output [G * q, h * d_v], weights [G * q, n] if wanted.

        The weights are means over the heads.
        """
        query = query.view(len(keys), -1, query.shape[-1])
        query, keys, values = self._heads(query), self._heads(keys), self._heads(values)
        weights = None
        if wanted:
            scores = query @ keys.transpose(-1, -2) * scaling
            scores = (scores if mask is None else scores + mask).softmax(-1)
            output, weights = scores @ values, scores.float().mean(1).flatten(0, 1)
        else:
            output = F.scaled_dot_product_attention(query, keys, values, mask, scale=scaling)
        return output.transpose(1, 2).flatten(2).flatten(0, 1), weights

    def _make_room(self, sentences: int) -> torch.Tensor | None:
        """Room for this step's slots, and the mask [A, 1, w, slots] of each hypothesis' own ones."""
        assert self.history is not None
        new, capacity = self.width if self.shared else 1, self.memories[0].keys.shape[1]
        if self.filled + new > capacity:
            self._compact(new, capacity)
        if not self.shared:
            return None
        own = torch.eye(self.width, dtype=torch.bool, device=self.history.device).expand(sentences, -1, -1)
        self.history = torch.cat([self.history, own], -1)
        if self.width == 1 and self.history.shape[2] == self.position + 1:
            return None  # a single hypothesis, and nothing but its own past
        dtype = self.memories[0].keys.dtype
        return torch.zeros_like(self.history, dtype=dtype).masked_fill_(~self.history, torch.finfo(dtype).min)[:, None]

    def _compact(self, new: int, capacity: int) -> None:
        """Forget the slots that no hypothesis has in its past any more; grow if that leaves too little room."""
        assert self.history is not None
        if self.shared:
            alive = self.history.any(1)
            most = int(alive.sum(-1).max())
            slots = alive.to(torch.int8).argsort(dim=-1, descending=True, stable=True)[:, :most]
            self.history = self.history.gather(2, slots[:, None].expand(-1, self.history.shape[1], -1))
        else:
            most = self.filled
            slots = torch.arange(most, device=self.history.device).expand(self.memories[0].keys.shape[0], -1)
        if 2 * (most + new) > capacity:
            capacity = 2 * (most + new) + 16
        for memory in self.memories:
            memory.rebuild(slots, capacity)
        self.filled = most


class EnsembleDecoder:
    """Several decoders of one vocabulary as one, whose log-probabilities are the mean of theirs.

    The attention over the source is the first one's.
    """

    def __init__(self, decoders: list[IncrementalDecoder]):
        self.decoders = decoders
        self.attention: torch.Tensor | None = None

    def log_probs(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `IncrementalDecoder.log_probs`; the mean log-probabilities stand for the logits too."""
        mean = torch.stack([decoder.log_probs(tokens)[1] for decoder in self.decoders]).mean(0)
        self.attention = self.decoders[0].attention
        return mean, mean

    def best(self, tokens: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """As `IncrementalDecoder.best`."""
        mean = self.log_probs(tokens)[1]
        return mean.topk(min(count, mean.shape[-1]), -1)

    def read(self, tokens: torch.Tensor) -> None:
        for decoder in self.decoders:
            decoder.read(tokens)

    def follow(self, parents: torch.Tensor) -> None:
        for decoder in self.decoders:
            decoder.follow(parents)

    def keep(self, sentences: torch.Tensor) -> None:
        for decoder in self.decoders:
            decoder.keep(sentences)


__all__ = ["DecoderWeights", "EnsembleDecoder", "IncrementalDecoder", "can_step"]
