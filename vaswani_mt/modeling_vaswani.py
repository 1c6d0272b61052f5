"""The Transformer, in the order in which section 3 of "Attention Is All You Need" builds it.

Shapes: B sentences, S source positions, T target positions, L either of them, h heads.
"""

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import initialization as init
from transformers.activations import ACT2FN
from transformers.cache_utils import Cache, DynamicCache, EncoderDecoderCache
from transformers.masking_utils import create_bidirectional_mask, create_causal_mask
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
    Seq2SeqModelOutput,
)
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel
from transformers.processing_utils import Unpack
from transformers.utils import TransformersKwargs, can_return_tuple
from transformers.utils.generic import merge_with_config_defaults
from transformers.utils.output_capturing import OutputRecorder, capture_outputs

from .configuration_vaswani import VaswaniConfig
from .generation_vaswani import VaswaniGenerationMixin

# --- Section 5.4: residual dropout ----------------------------------------------------------------------------------


class _CpuDropout(torch.autograd.Function):
    """Dropout from 16 random bits an element, four times as fast as torch's on CPU, which draws 53 and a double."""

    @staticmethod
    def forward(ctx, states: torch.Tensor, p: float) -> torch.Tensor:
        kept = max(1, round((1 - p) * 2**16))  # of 2^16; the scale is that of the probability really used
        words = torch.randint(-(2**63), 2**63 - 1, ((states.numel() + 3) // 4,))
        mask = words.view(torch.int16)[: states.numel()].view(states.shape) < kept - 2**15
        ctx.save_for_backward(mask)
        ctx.scale = 2**16 / kept
        return (states * mask).mul_(ctx.scale)

    @staticmethod
    def backward(ctx, grad: torch.Tensor):  # type: ignore[override]
        (mask,) = ctx.saved_tensors
        return (grad * mask) * ctx.scale, None


class VaswaniDropout(nn.Dropout):
    """Zero each element with probability p and divide the others by 1 - p, while training (section 5.4)."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[...] -> [...]."""
        if not self.training or self.p == 0:
            return states
        if states.device.type == "cpu" and not torch.compiler.is_compiling():
            return _CpuDropout.apply(states, self.p)
        return super().forward(states)


# --- Section 3.5: positional encoding ------------------------------------------------------------------------------


def sinusoid_table(num_positions: int, d_model: int, layout: str = "interleaved", first: int = 0) -> torch.Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos of the same (section 3.5).

    Args:
        num_positions: number of rows.
        d_model: number of columns, even.
        layout: see `VaswaniConfig.sinusoid_layout`.
        first: position number of row 0.

    Returns:
        float32 tensor [num_positions, d_model], computed in float64 (float32 angles would be off by 1e-4 at
        position 1000).
    """
    half = d_model // 2
    exponent = torch.arange(half, dtype=torch.float64) / (half - 1 if layout == "tensor2tensor" else half)
    position = torch.arange(first, first + num_positions, dtype=torch.float64)
    angle = position[:, None] * torch.pow(10000.0, -exponent)
    pair = (angle.sin(), angle.cos())
    table = torch.stack(pair, dim=-1).flatten(-2) if layout == "interleaved" else torch.cat(pair, dim=-1)
    return table.float()


class VaswaniSinusoidalPositions(nn.Module):
    """Rows of the sinusoid table; the table is computed, never saved, and grows with the input."""

    table: torch.Tensor

    def __init__(self, config: VaswaniConfig):
        super().__init__()
        self.layout, self.offset, self.d_model = config.sinusoid_layout, config.position_offset, config.d_model
        self.register_buffer("table", self.compute(config.max_position_embeddings), persistent=False)

    def compute(self, num_positions: int) -> torch.Tensor:
        return sinusoid_table(num_positions, self.d_model, self.layout, first=self.offset)

    def forward(self, positions: torch.Tensor, length: int) -> torch.Tensor:
        """positions [..., L] counted from 0, all below `length` -> encodings [..., L, d_model]."""
        if length > self.table.shape[0]:
            # Doubling keeps a generation that grows step by step from computing the table at every step.
            self.table = self.compute(max(length, 2 * self.table.shape[0])).to(self.table)
        return F.embedding(positions, self.table)


class VaswaniLearnedPositions(nn.Embedding):
    """Table 3 row E: positions learned like words."""

    def __init__(self, config: VaswaniConfig):
        super().__init__(config.max_position_embeddings + config.position_offset, config.d_model)
        self.offset = config.position_offset

    def forward(self, positions: torch.Tensor, length: int) -> torch.Tensor:  # type: ignore[override]
        """positions [..., L] counted from 0, all below `length` -> encodings [..., L, d_model]."""
        if length > self.num_embeddings - self.offset:
            raise ValueError(
                f"A sequence of {length} tokens is longer than the {self.num_embeddings - self.offset} positions this "
                "model has learned (max_position_embeddings, position_embedding='learned'). Shorten or split it."
            )
        return super().forward(positions + self.offset)


class VaswaniEmbedding(nn.Module):
    """Input of both stacks: embedding * sqrt(d_model) + position, then dropout (sections 3.4, 3.5, 5.4)."""

    def __init__(self, config: VaswaniConfig):
        super().__init__()
        self.scale = math.sqrt(config.d_model) if config.scale_embedding else 1.0
        learned = config.position_embedding == "learned"
        self.positions = VaswaniLearnedPositions(config) if learned else VaswaniSinusoidalPositions(config)
        self.dropout = VaswaniDropout(config.dropout)

    def forward(self, inputs_embeds: torch.Tensor, mask: torch.Tensor | None, past_length: int = 0) -> torch.Tensor:
        """inputs_embeds [B, L, d_model], mask [B, past_length + L] or None -> [B, L, d_model].

        Positions count the tokens that are not padding, so that padding on the left changes nothing.
        """
        length = past_length + inputs_embeds.shape[1]
        if mask is not None and mask.dim() == 2 and mask.shape[1] == length:
            positions = (mask.long().cumsum(-1) - 1).clamp_(min=0)[:, past_length:].to(inputs_embeds.device)
        else:
            positions = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device)[None] + past_length
        encoding = self.positions(positions, length)
        return self.dropout(inputs_embeds * self.scale + encoding.to(inputs_embeds.dtype))


# --- Section 3.2: attention ----------------------------------------------------------------------------------------


def scaled_dot_product_attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float,
    dropout: float = 0.0,
    **kwargs,
) -> tuple[torch.Tensor, torch.Tensor]:
    """softmax(Q K^T / sqrt(d_k)) V (section 3.2.1), the "eager" attention that also returns its weights.

    Args:
        query, key: [B, h, L, d_k]; value: [B, h, L, d_v].
        attention_mask: added to the scores, broadcastable to [B, h, L_query, L_key].

    Returns:
        output [B, L_query, h, d_v] and weights [B, h, L_query, L_key].
    """
    scores = query @ key.transpose(-1, -2) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = F.dropout(scores.softmax(dim=-1), p=dropout, training=module.training)
    return (weights @ value).transpose(1, 2).contiguous(), weights


class VaswaniAttention(nn.Module):
    """Multi-head attention (section 3.2.2): Concat(head_1 .. head_h) W^O, head_i = Attention(Q W_i, K W_i, V W_i)."""

    def __init__(self, config: VaswaniConfig, num_heads: int, layer_idx: int, is_causal: bool = False):
        super().__init__()
        self.config = config
        self.layer_idx = layer_idx
        self.is_causal = is_causal
        self.d_k = config.d_k or config.d_model // num_heads
        self.d_v = config.d_v or config.d_model // num_heads
        self.scaling = self.d_k**-0.5
        self.dropout = config.attention_dropout
        self.q_proj = nn.Linear(config.d_model, num_heads * self.d_k, bias=config.attention_bias)
        self.k_proj = nn.Linear(config.d_model, num_heads * self.d_k, bias=config.attention_bias)
        self.v_proj = nn.Linear(config.d_model, num_heads * self.d_v, bias=config.attention_bias)
        self.out_proj = nn.Linear(num_heads * self.d_v, config.d_model, bias=config.attention_bias)

    def forward(
        self,
        hidden_states: torch.Tensor,
        key_value_states: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        past_key_values: Cache | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Queries from `hidden_states`; keys and values from `key_value_states` (the encoder's output) if given.

        Args:
            hidden_states: [B, L, d_model].
            key_value_states: [B, S, d_model], or None for self-attention.
            attention_mask: as the attention implementation wants it (see transformers.masking_utils).
            past_key_values: keys and values of earlier calls; extended (self) or filled once (cross).

        Returns:
            output [B, L, d_model] and, where the implementation has them, weights [B, h, L, S].
        """
        query = self._split(self.q_proj(hidden_states), self.d_k)
        key, value = self._keys_and_values(hidden_states, key_value_states, past_key_values)
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(
            self.config._attn_implementation, scaled_dot_product_attention
        )
        output, weights = attention(
            self,
            query,
            key,
            value,
            attention_mask,
            dropout=self.dropout if self.training else 0.0,
            scaling=self.scaling,
            **kwargs,
        )
        return self.out_proj(output.flatten(-2)), weights

    def _keys_and_values(self, hidden_states, key_value_states, cache) -> tuple[torch.Tensor, torch.Tensor]:
        is_cross = key_value_states is not None
        if isinstance(cache, EncoderDecoderCache):
            if is_cross and cache.is_updated.get(self.layer_idx):
                layer: Any = cache.cross_attention_cache.layers[self.layer_idx]
                return layer.keys, layer.values
            if is_cross:
                cache.is_updated[self.layer_idx] = True
            cache = cache.cross_attention_cache if is_cross else cache.self_attention_cache
        states = key_value_states if is_cross else hidden_states
        key = self._split(self.k_proj(states), self.d_k)
        value = self._split(self.v_proj(states), self.d_v)
        return (key, value) if cache is None else cache.update(key, value, self.layer_idx)

    @staticmethod
    def _split(states: torch.Tensor, width: int) -> torch.Tensor:
        """[B, L, h * width] -> [B, h, L, width]."""
        return states.unflatten(-1, (-1, width)).transpose(1, 2)


# --- Section 3.3: position-wise feed-forward networks --------------------------------------------------------------


class VaswaniFeedForward(nn.Module):
    """FFN(x) = max(0, x W1 + b1) W2 + b2."""

    def __init__(self, config: VaswaniConfig, d_ff: int):
        super().__init__()
        self.fc1 = nn.Linear(config.d_model, d_ff)
        self.activation = ACT2FN[config.activation_function]
        self.dropout = VaswaniDropout(config.activation_dropout)
        self.fc2 = nn.Linear(d_ff, config.d_model)

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        """[B, L, d_model] -> [B, L, d_model]."""
        return self.fc2(self.dropout(self.activation(self.fc1(hidden_states))))


# --- Section 3.1: encoder and decoder stacks -----------------------------------------------------------------------


class VaswaniResidual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))): what surrounds every sub-layer (sections 3.1 and 5.4)."""

    def __init__(self, config: VaswaniConfig):
        super().__init__()
        self.dropout = VaswaniDropout(config.dropout)
        self.layer_norm = nn.LayerNorm(config.d_model, eps=config.layer_norm_eps)

    def forward(self, hidden_states: torch.Tensor, sublayer_output: torch.Tensor) -> torch.Tensor:
        """[B, L, d_model], [B, L, d_model] -> [B, L, d_model]."""
        return self.layer_norm(hidden_states + self.dropout(sublayer_output))


class VaswaniEncoderLayer(GradientCheckpointingLayer):
    """Self-attention, then the feed-forward network."""

    def __init__(self, config: VaswaniConfig, layer_idx: int):
        super().__init__()
        self.self_attn = VaswaniAttention(config, config.encoder_attention_heads, layer_idx)
        self.self_attn_residual = VaswaniResidual(config)
        self.feed_forward = VaswaniFeedForward(config, config.encoder_ffn_dim)
        self.feed_forward_residual = VaswaniResidual(config)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None, **kwargs) -> torch.Tensor:
        """[B, S, d_model] -> [B, S, d_model]."""
        attended, _ = self.self_attn(hidden_states, attention_mask=attention_mask, **kwargs)
        hidden_states = self.self_attn_residual(hidden_states, attended)
        return self.feed_forward_residual(hidden_states, self.feed_forward(hidden_states))


class VaswaniDecoderLayer(GradientCheckpointingLayer):
    """Masked self-attention, attention over the encoder's output, then the feed-forward network."""

    def __init__(self, config: VaswaniConfig, layer_idx: int):
        super().__init__()
        heads = config.decoder_attention_heads
        self.self_attn = VaswaniAttention(config, heads, layer_idx, is_causal=True)
        self.self_attn_residual = VaswaniResidual(config)
        self.encoder_attn = VaswaniAttention(config, heads, layer_idx)
        self.encoder_attn_residual = VaswaniResidual(config)
        self.feed_forward = VaswaniFeedForward(config, config.decoder_ffn_dim)
        self.feed_forward_residual = VaswaniResidual(config)

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor | None,
        encoder_hidden_states: torch.Tensor,
        encoder_attention_mask: torch.Tensor | None = None,
        past_key_values: Cache | None = None,
        **kwargs,
    ) -> torch.Tensor:
        """[B, T, d_model], with encoder_hidden_states [B, S, d_model] -> [B, T, d_model]."""
        attended, _ = self.self_attn(
            hidden_states, attention_mask=attention_mask, past_key_values=past_key_values, **kwargs
        )
        hidden_states = self.self_attn_residual(hidden_states, attended)
        attended, _ = self.encoder_attn(
            hidden_states,
            key_value_states=encoder_hidden_states,
            attention_mask=encoder_attention_mask,
            past_key_values=past_key_values,
            **kwargs,
        )
        hidden_states = self.encoder_attn_residual(hidden_states, attended)
        return self.feed_forward_residual(hidden_states, self.feed_forward(hidden_states))


class VaswaniPreTrainedModel(PreTrainedModel):
    """Initialisation and what the classes below have in common."""

    config: VaswaniConfig
    config_class = VaswaniConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["VaswaniEncoderLayer", "VaswaniDecoderLayer"]
    _skip_keys_device_placement = ["past_key_values"]
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flex_attn = True
    _supports_attention_backend = True
    _can_compile_fullgraph = True

    def __init__(self, config: VaswaniConfig, *args, **kwargs):
        # from_pretrained(..., field=value) sets fields after the configuration checked itself.
        config.check()
        super().__init__(config, *args, **kwargs)

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Glorot-uniform matrices, zero biases, embeddings N(0, d_model^-0.5) as in the authors' tensor2tensor."""
        super()._init_weights(module)
        if isinstance(module, nn.Linear):
            init.xavier_uniform_(module.weight)
        elif isinstance(module, nn.Embedding):
            init.normal_(module.weight, std=self.config.d_model**-0.5)
            if module.padding_idx is not None and not getattr(module.weight, "_is_hf_initialized", False):
                init.zeros_(module.weight[module.padding_idx])
        elif isinstance(module, VaswaniSinusoidalPositions):
            init.copy_(module.table, module.compute(module.table.shape[0]))

    @property
    def dummy_inputs(self) -> dict[str, torch.Tensor]:
        input_ids = torch.tensor([[3, 4, 5, 2], [3, 4, 2, 0]], device=self.device)
        mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]], device=self.device)
        return {"input_ids": input_ids, "attention_mask": mask, "decoder_input_ids": input_ids}


def _embedded(embed_tokens: nn.Embedding, input_ids, inputs_embeds, names: str) -> torch.Tensor:
    """The one of the two that was given, as embeddings [B, L, d_model]."""
    if (input_ids is None) == (inputs_embeds is None):
        raise ValueError(f"Give exactly one of {names}.")
    return embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds


class VaswaniEncoder(VaswaniPreTrainedModel):
    """N layers over the embedded source; no LayerNorm after the last layer beyond that layer's own."""

    _can_record_outputs = {"hidden_states": VaswaniEncoderLayer, "attentions": VaswaniAttention}

    def __init__(self, config: VaswaniConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.embedding = VaswaniEmbedding(config)
        self.layers = nn.ModuleList(VaswaniEncoderLayer(config, i) for i in range(config.encoder_layers))
        self.gradient_checkpointing = False
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> BaseModelOutput:
        """Encode B source sentences.

        Args:
            input_ids: [B, S] int64, or
            inputs_embeds: [B, S, d_model], not yet multiplied by sqrt(d_model).
            attention_mask: [B, S], 1 for tokens and 0 for padding on either side; None: no padding.

        Returns:
            `BaseModelOutput` with last_hidden_state [B, S, d_model].
        """
        inputs_embeds = _embedded(self.embed_tokens, input_ids, inputs_embeds, "input_ids and inputs_embeds")
        hidden_states = self.embedding(inputs_embeds, attention_mask)
        mask = create_bidirectional_mask(self.config, inputs_embeds, attention_mask)
        for layer in self.layers:
            hidden_states = layer(hidden_states, mask, **kwargs)
        return BaseModelOutput(last_hidden_state=hidden_states)


class VaswaniDecoder(VaswaniPreTrainedModel):
    """N layers over the embedded target, each looking back at the target and across at the source."""

    _can_record_outputs = {
        "hidden_states": VaswaniDecoderLayer,
        "attentions": OutputRecorder(VaswaniAttention, index=1, layer_name="self_attn"),
        "cross_attentions": OutputRecorder(VaswaniAttention, index=1, layer_name="encoder_attn"),
    }

    def __init__(self, config: VaswaniConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.target_vocab_size, config.d_model, config.pad_token_id)
        self.embedding = VaswaniEmbedding(config)
        self.layers = nn.ModuleList(VaswaniDecoderLayer(config, i) for i in range(config.decoder_layers))
        self.gradient_checkpointing = False
        self.post_init()

    @merge_with_config_defaults
    @capture_outputs
    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        encoder_hidden_states: torch.Tensor | None = None,
        encoder_attention_mask: torch.Tensor | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        use_cache: bool | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """Decode B target prefixes; position t sees the positions up to t.

        Args:
            input_ids: [B, T] int64, or
            inputs_embeds: [B, T, d_model], not yet multiplied by sqrt(d_model).
            attention_mask: [B, T] (with a cache: past + T), 1 for tokens and 0 for padding.
            encoder_hidden_states: [B, S, d_model].
            encoder_attention_mask: [B, S].
            past_key_values: cache of the positions decoded before; `input_ids` are then the ones after them.

        Returns:
            last_hidden_state [B, T, d_model] and, with `use_cache`, past_key_values.
        """
        if encoder_hidden_states is None:
            raise ValueError(
                "The decoder attends over the encoder's output: give encoder_hidden_states [B, S, d_model]."
            )
        inputs_embeds = _embedded(
            self.embed_tokens, input_ids, inputs_embeds, "decoder_input_ids and decoder_inputs_embeds"
        )
        if use_cache and past_key_values is None:
            past_key_values = EncoderDecoderCache(DynamicCache(config=self.config), DynamicCache(config=self.config))
        past_length = past_key_values.get_seq_length() if past_key_values is not None else 0
        hidden_states = self.embedding(inputs_embeds, attention_mask, past_length)
        own_cache = past_key_values
        if isinstance(past_key_values, EncoderDecoderCache):
            own_cache = past_key_values.self_attention_cache
        causal_mask = create_causal_mask(
            config=self.config, inputs_embeds=inputs_embeds, attention_mask=attention_mask, past_key_values=own_cache
        )
        cross_mask = create_bidirectional_mask(
            self.config, inputs_embeds, encoder_attention_mask, encoder_hidden_states
        )
        for layer in self.layers:
            hidden_states = layer(
                hidden_states,
                causal_mask,
                encoder_hidden_states,  # positional, so that gradient checkpointing sees it
                encoder_attention_mask=cross_mask,
                past_key_values=past_key_values,
                **kwargs,
            )
        return BaseModelOutputWithPastAndCrossAttentions(
            last_hidden_state=hidden_states, past_key_values=past_key_values
        )


class VaswaniModel(VaswaniPreTrainedModel):
    """Encoder and decoder, without the projection to the vocabulary (figure 1 up to the last LayerNorm)."""

    def __init__(self, config: VaswaniConfig):
        super().__init__(config)
        if config.weight_tying == "all":
            self._tied_weights_keys = {"decoder.embed_tokens.weight": "encoder.embed_tokens.weight"}
        self.encoder = VaswaniEncoder(config)
        self.decoder = VaswaniDecoder(config)
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        return self.encoder.embed_tokens

    def set_input_embeddings(self, value: nn.Embedding) -> None:  # type: ignore[override]
        self.encoder.embed_tokens = value
        if self.config.weight_tying == "all":
            self.decoder.embed_tokens = value

    @can_return_tuple
    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        encoder_outputs: BaseModelOutput | tuple | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        decoder_inputs_embeds: torch.Tensor | None = None,
        use_cache: bool | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> Seq2SeqModelOutput:
        """Encode the source (unless `encoder_outputs` is given) and decode the target.

        Arguments are those of `VaswaniEncoder` and, with the prefix `decoder_`, of `VaswaniDecoder`.

        Returns:
            last_hidden_state [B, T, d_model], encoder_last_hidden_state [B, S, d_model], the cache, and on
            request hidden states and attention weights of both stacks.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(
                input_ids=input_ids, attention_mask=attention_mask, inputs_embeds=inputs_embeds, **kwargs
            )
        encoded = BaseModelOutput(*encoder_outputs) if isinstance(encoder_outputs, tuple) else encoder_outputs
        decoder_outputs = self.decoder(
            input_ids=decoder_input_ids,
            attention_mask=decoder_attention_mask,
            encoder_hidden_states=encoded.last_hidden_state,
            encoder_attention_mask=attention_mask,
            past_key_values=past_key_values,
            inputs_embeds=decoder_inputs_embeds,
            use_cache=use_cache,
            **kwargs,
        )
        return Seq2SeqModelOutput(
            last_hidden_state=decoder_outputs.last_hidden_state,
            past_key_values=decoder_outputs.past_key_values,
            decoder_hidden_states=decoder_outputs.hidden_states,
            decoder_attentions=decoder_outputs.attentions,
            cross_attentions=decoder_outputs.cross_attentions,
            encoder_last_hidden_state=encoded.last_hidden_state,
            encoder_hidden_states=encoded.hidden_states,
            encoder_attentions=encoded.attentions,
        )


# --- Sections 3.4 and 5.4: projection to the vocabulary, label smoothing -------------------------------------------


def shift_tokens_right(labels: torch.Tensor, pad_token_id: int | None, decoder_start_token_id: int | None):
    """Decoder inputs for `labels`: the start symbol, then every label but the last (figure 1, "shifted right").

    Args:
        labels: [B, T] int64; -100 (ignored positions) becomes padding.

    Returns:
        [B, T] int64.
    """
    if pad_token_id is None or decoder_start_token_id is None:
        raise ValueError("Training needs pad_token_id and decoder_start_token_id in the configuration.")
    shifted = labels.roll(1, dims=-1)
    shifted[..., 0] = decoder_start_token_id
    return shifted.masked_fill_(shifted == -100, pad_token_id)


LOGITS_PER_CHUNK = 2**21  # 8 MiB of float32: stays in the cache on CPU, and is little beside any model on GPU


class _LinearCrossEntropy(torch.autograd.Function):
    """Projection to the vocabulary, smoothed cross-entropy and their gradients, a chunk of tokens at a time.

    With logits z = h W^T + b and p = softmax(z), a token's loss is logsumexp(z) - (1 - eps) z_gold - eps mean(z); its
    gradient with respect to z is p - (1 - eps) onehot(gold) - eps / V. That is known as soon as the logits are, so it
    is taken on the spot, and the chunk's memory serves the next chunk. The terms in mean(z) and eps / V are alike for
    all symbols and need no pass over them. (torch's own chunked `linear_cross_entropy` has no label smoothing, and
    with bf16 on CPU it takes ten times as long.)
    """

    @staticmethod
    def forward(ctx, hidden, weight, bias, labels, epsilon, dtype, with_grad):
        need_hidden, need_weight, need_bias = (with_grad and needed for needed in ctx.needs_input_grad[:3])
        size = weight.shape[0]
        projection, offset = weight.to(dtype).t(), None if bias is None else bias.to(dtype)
        mean_row, mean_bias = weight.float().mean(0), 0.0 if bias is None else bias.float().mean()
        rows = max(1, min(labels.shape[0], max(256, LOGITS_PER_CHUNK // size)))
        logits_memory = hidden.new_empty((rows, size), dtype=dtype)
        probs_memory = hidden.new_empty((rows, size), dtype=torch.float32)
        total = hidden.new_zeros((), dtype=torch.float32)
        hidden_grad = torch.empty_like(hidden) if need_hidden else None
        weight_grad = torch.zeros_like(weight, dtype=torch.float32) if need_weight else None
        bias_grad = torch.zeros_like(bias, dtype=torch.float32) if need_bias else None
        for start in range(0, labels.shape[0], rows):
            states, gold = hidden[start : start + rows].to(dtype), labels[start : start + rows, None]
            logits, probs = logits_memory[: len(gold)], probs_memory[: len(gold)]
            torch.mm(states, projection, out=logits)
            if offset is not None:
                logits += offset
            torch.softmax(logits, -1, dtype=torch.float32, out=probs)
            # The largest probability is at least 1 / V, so its logarithm is safe where that of another might not be.
            total += (logits.amax(-1).float() - probs.amax(-1).log()).sum()
            total -= (1 - epsilon) * logits.gather(1, gold).float().sum()
            if epsilon:
                total -= epsilon * (states.float() @ mean_row + mean_bias).sum()
            if not (need_hidden or need_weight or need_bias):
                continue
            probs.scatter_add_(1, gold, probs.new_full(gold.shape, epsilon - 1.0))
            if bias_grad is not None:
                bias_grad += probs.sum(0) - epsilon * len(gold) / size
            grad = probs if dtype == torch.float32 else logits.copy_(probs)
            if hidden_grad is not None:
                hidden_grad[start : start + rows] = grad @ projection.t() - epsilon * mean_row.to(dtype)
            if weight_grad is not None and dtype == torch.float32:
                weight_grad.addmm_(grad.t(), states)
            elif weight_grad is not None:
                weight_grad += grad.t() @ states
        if weight_grad is not None and epsilon:
            weight_grad -= epsilon / size * hidden.float().sum(0)
        ctx.save_for_backward(hidden_grad, weight_grad, bias_grad)
        ctx.dtypes = weight.dtype, None if bias is None else bias.dtype
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        hidden_grad, weight_grad, bias_grad = ctx.saved_tensors
        weight_dtype, bias_dtype = ctx.dtypes
        return (
            None if hidden_grad is None else (hidden_grad * grad_output).to(hidden_grad.dtype),
            None if weight_grad is None else (weight_grad * grad_output).to(weight_dtype),
            None if bias_grad is None else (bias_grad * grad_output).to(bias_dtype),
            *[None] * 4,
        )


def linear_cross_entropy(
    hidden_states: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    labels: torch.Tensor,
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """Summed cross-entropy of `labels` under softmax(hidden_states weight^T + bias), without keeping [tokens, V].

    Args:
        hidden_states: [..., d_model]; under autocast the products are taken in autocast's dtype.
        weight: [V, d_model]; bias: [V] or None.
        labels: [...] int64; -100 is ignored, and costs nothing.
        label_smoothing: eps, of which every symbol gets eps / V (section 5.4).

    Returns:
        scalar float32, differentiable once with respect to the first three.
    """
    device = hidden_states.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden_states.dtype
    kept = labels != -100
    with torch.autocast(device, enabled=False):
        return _LinearCrossEntropy.apply(
            hidden_states[kept], weight, bias, labels[kept], label_smoothing, dtype, torch.is_grad_enabled()
        )


class VaswaniForConditionalGeneration(VaswaniPreTrainedModel, VaswaniGenerationMixin):
    """The whole model: translation, parsing, any sequence to any sequence."""

    def __init__(self, config: VaswaniConfig):
        super().__init__(config)
        if config.weight_tying == "all":
            source = "model.encoder.embed_tokens.weight"
            self._tied_weights_keys = {"model.decoder.embed_tokens.weight": source, "lm_head.weight": source}
        elif config.weight_tying == "decoder":
            self._tied_weights_keys = {"lm_head.weight": "model.decoder.embed_tokens.weight"}
        self.model = VaswaniModel(config)
        self.lm_head = nn.Linear(config.d_model, config.target_vocab_size, bias=config.lm_head_bias)
        self.post_init()
        # Of a configuration marked as derived, transformers drops the fields it does not know when it is loaded again.
        self.generation_config._from_model_config = False  # type: ignore[union-attr]

    def resize_token_embeddings(self, new_num_tokens=None, pad_to_multiple_of=None, mean_resizing=True):
        """Resize the vocabulary; see `PreTrainedModel.resize_token_embeddings`.

        Raises:
            ValueError: source and target have vocabularies of their own (`decoder_vocab_size` differs).
        """
        config, decoder = self.config, self.model.decoder
        if new_num_tokens is None and pad_to_multiple_of is None:
            return self.get_input_embeddings()
        if config.target_vocab_size != config.vocab_size:
            raise ValueError(
                f"vocab_size={config.vocab_size} and decoder_vocab_size={config.decoder_vocab_size} differ, so one "
                "size does not say which to resize. Build a new model with the sizes wanted and copy the rest."
            )
        if config.weight_tying != "all":
            decoder.embed_tokens = self._get_resized_embeddings(
                decoder.embed_tokens, new_num_tokens, pad_to_multiple_of, mean_resizing
            )
        embeddings = super().resize_token_embeddings(new_num_tokens, pad_to_multiple_of, mean_resizing)
        config.decoder_vocab_size = config.vocab_size
        return embeddings

    def prepare_decoder_input_ids_from_labels(self, labels: torch.Tensor) -> torch.Tensor:
        """labels [B, T] -> decoder_input_ids [B, T]; see `shift_tokens_right`."""
        return shift_tokens_right(labels, self.config.pad_token_id, self.config.decoder_start_token_id)

    @can_return_tuple
    def forward(  # type: ignore[misc]  # num_items_in_batch is one of the keywords too
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        decoder_input_ids: torch.Tensor | None = None,
        decoder_attention_mask: torch.Tensor | None = None,
        encoder_outputs: BaseModelOutput | tuple | None = None,
        past_key_values: Cache | None = None,
        inputs_embeds: torch.Tensor | None = None,
        decoder_inputs_embeds: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        use_cache: bool | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
        return_logits: bool | None = None,
        **kwargs: Unpack[TransformersKwargs],
    ) -> Seq2SeqLMOutput:
        """Logits over the target vocabulary and, with `labels`, the loss.

        Args (beyond those of `VaswaniModel`):
            labels: [B, T] int64, -100 where there is nothing to predict. Without `decoder_input_ids` the decoder
                reads them shifted right.
            num_items_in_batch: number of target tokens of the whole optimisation step, over gradient accumulation
                and processes; the loss is then this batch's sum divided by it. None: the mean over this batch.
            return_logits: whether to compute logits [B, T, V] beside the loss. Default: not when training with
                labels, where the loss needs no such tensor.

        Returns:
            `Seq2SeqLMOutput`: loss (while training with label smoothing, in evaluation plain cross-entropy, so that
            exp(loss) is the perplexity), logits or None, and what `VaswaniModel` returns.
        """
        if labels is not None:
            use_cache = False
            if decoder_input_ids is None and decoder_inputs_embeds is None:
                decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        outputs: Seq2SeqModelOutput = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
            decoder_attention_mask=decoder_attention_mask,
            encoder_outputs=encoder_outputs,
            past_key_values=past_key_values,
            inputs_embeds=inputs_embeds,
            decoder_inputs_embeds=decoder_inputs_embeds,
            use_cache=use_cache,
            **kwargs,
        )
        hidden_states = outputs.last_hidden_state
        if return_logits is None:
            return_logits = labels is None or not self.training
        logits = self.lm_head(hidden_states) if return_logits else None
        loss = None if labels is None else self._loss(hidden_states, logits, labels, num_items_in_batch)
        return Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            past_key_values=outputs.past_key_values,
            decoder_hidden_states=outputs.decoder_hidden_states,
            decoder_attentions=outputs.decoder_attentions,
            cross_attentions=outputs.cross_attentions,
            encoder_last_hidden_state=outputs.encoder_last_hidden_state,
            encoder_hidden_states=outputs.encoder_hidden_states,
            encoder_attentions=outputs.encoder_attentions,
        )

    def _loss(self, hidden_states, logits, labels: torch.Tensor, num_items_in_batch) -> torch.Tensor:
        """Cross-entropy with label smoothing (section 5.4), summed and divided by the number of tokens: scalar.

        Taken from the logits [B, T, V] where these are wanted anyway, else without them.
        """
        labels = labels.to(hidden_states.device)
        epsilon = self.config.label_smoothing if self.training else 0.0
        if self.config.label_smoothing_type == "exclusive":
            # eps / (V - 1) to each other symbol is eps' / V to every symbol with eps' = eps V / (V - 1).
            epsilon *= self.lm_head.out_features / (self.lm_head.out_features - 1)
        if logits is None:
            total = linear_cross_entropy(hidden_states, self.lm_head.weight, self.lm_head.bias, labels, epsilon)
        else:
            total = F.cross_entropy(
                logits.flatten(0, 1).float(), labels.flatten(), reduction="sum", label_smoothing=epsilon
            )
        count = (labels != -100).sum().clamp(min=1) if num_items_in_batch is None else num_items_in_batch
        return total / (count.to(total.device) if isinstance(count, torch.Tensor) else count)


# As `VaswaniConfig` does.
VaswaniModel.register_for_auto_class("AutoModel")
VaswaniForConditionalGeneration.register_for_auto_class("AutoModelForSeq2SeqLM")

__all__ = [
    "VaswaniDecoder",
    "VaswaniEncoder",
    "VaswaniForConditionalGeneration",
    "VaswaniModel",
    "VaswaniPreTrainedModel",
]
