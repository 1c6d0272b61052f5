"""Configuration of the Transformer of "Attention Is All You Need" (Vaswani et al., 2017).

The defaults are the paper's base model for WMT14 English-German (Table 3, first row).
"""

from huggingface_hub.dataclasses import strict
from transformers.activations import ACT2FN
from transformers.configuration_utils import PreTrainedConfig

POSITION_EMBEDDINGS = ("sinusoidal", "learned")
SINUSOID_LAYOUTS = ("interleaved", "concatenated", "tensor2tensor")
WEIGHT_TYINGS = ("all", "decoder", "none")
LABEL_SMOOTHING_TYPES = ("uniform", "exclusive")


@strict
class VaswaniConfig(PreTrainedConfig):
    r"""Every knob of the paper, of its Table 3, and of how other toolkits read it.

    Args:
        vocab_size: number of source symbols; of target symbols too unless `decoder_vocab_size` differs.
        decoder_vocab_size: number of target symbols. `None` means `vocab_size`; another size needs
            `weight_tying` other than "all".
        d_model: width of every sub-layer's output (section 3.1).
        encoder_layers, decoder_layers: N, the number of layers of each stack (section 3.1).
        encoder_attention_heads, decoder_attention_heads: h (section 3.2.2).
        encoder_ffn_dim, decoder_ffn_dim: d_ff, the inner width of the feed-forward sub-layers (section 3.3).
        d_k, d_v: width of one head's keys (and queries) and values. `None` means d_model / h, as in the
            paper; Table 3 rows A and B set them on their own.
        dropout: P_drop, on each sub-layer's output and on embedding + position (section 5.4).
        attention_dropout, activation_dropout: dropout on attention weights and inside the feed-forward
            sub-layer. The paper has neither.
        activation_function: name of a transformers activation; the paper's is "relu" (section 3.3).
        position_embedding: "sinusoidal" (section 3.5) or "learned" (Table 3 row E).
        sinusoid_layout: "interleaved": sin at even, cos at odd dimensions, the paper's formula;
            "concatenated": all sines then all cosines, same frequencies (Marian, MarianMT, Sockeye);
            "tensor2tensor": concatenated, with the exponent running over d_model / 2 - 1 steps
            (tensor2tensor, fairseq, FSMT).
        position_offset: position number of the first token. 0 in the paper, padding index + 1 in fairseq.
        max_position_embeddings: for learned positions, the longest sequence; for sinusoids only the size
            of the table computed ahead (longer inputs extend it).
        attention_bias: biases in the attention projections (none in the formulas of section 3.2.2 and in
            tensor2tensor; fairseq and Marian have them).
        lm_head_bias: a bias on the pre-softmax projection. None in the paper; Marian models have one.
        layer_norm_eps: epsilon of every LayerNorm.
        scale_embedding: multiply embeddings by sqrt(d_model) (section 3.4).
        weight_tying: which of source embedding, target embedding and pre-softmax projection are one matrix:
            "all" (section 3.4), "decoder" (target embedding and projection) or "none".
        label_smoothing: eps_ls of section 5.4, applied to the loss while training.
        label_smoothing_type: "uniform": every symbol, gold included, gets eps / V (torch, Hugging Face);
            "exclusive": the gold symbol gets 1 - eps and each other one eps / (V - 1) (tensor2tensor, fairseq).
        pad_token_id, bos_token_id, eos_token_id, decoder_start_token_id: special symbols of the vocabulary.
        use_cache: keep keys and values of past target positions when generating.

    Raises:
        ValueError: a value that no such model can have; the message names the field, the value and the rule.

    Example:
        >>> from vaswani_mt import VaswaniConfig
        >>> big = VaswaniConfig(d_model=1024, encoder_ffn_dim=4096, decoder_ffn_dim=4096,
        ...                     encoder_attention_heads=16, decoder_attention_heads=16, dropout=0.3)
    """

    model_type = "vaswani"
    keys_to_ignore_at_inference = ["past_key_values"]
    attribute_map = {
        "hidden_size": "d_model",
        "num_attention_heads": "encoder_attention_heads",
        "num_hidden_layers": "encoder_layers",
    }

    vocab_size: int = 37000
    decoder_vocab_size: int | None = None
    d_model: int = 512
    encoder_layers: int = 6
    decoder_layers: int = 6
    encoder_attention_heads: int = 8
    decoder_attention_heads: int = 8
    encoder_ffn_dim: int = 2048
    decoder_ffn_dim: int = 2048
    d_k: int | None = None
    d_v: int | None = None
    dropout: float | int = 0.1
    attention_dropout: float | int = 0.0
    activation_dropout: float | int = 0.0
    activation_function: str = "relu"
    position_embedding: str = "sinusoidal"
    sinusoid_layout: str = "interleaved"
    position_offset: int = 0
    max_position_embeddings: int = 1024
    attention_bias: bool = False
    lm_head_bias: bool = False
    layer_norm_eps: float = 1e-6
    scale_embedding: bool = True
    weight_tying: str = "all"
    label_smoothing: float | int = 0.1
    label_smoothing_type: str = "uniform"
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 2
    decoder_start_token_id: int | None = 1
    use_cache: bool = True
    is_encoder_decoder: bool = True

    def __post_init__(self, **kwargs):
        if self.decoder_vocab_size is None:
            self.decoder_vocab_size = self.vocab_size
        super().__post_init__(**kwargs)
        if self.weight_tying == "all" and self.decoder_vocab_size != self.vocab_size:
            raise ValueError(
                f"VaswaniConfig: decoder_vocab_size={self.decoder_vocab_size} is not possible: with "
                f"weight_tying='all' both vocabularies are one, so it must equal vocab_size={self.vocab_size}."
            )
        eos = self.eos_token_id if isinstance(self.eos_token_id, list) else [self.eos_token_id]
        if self.pad_token_id is not None and self.pad_token_id in eos:
            raise ValueError(
                f"VaswaniConfig: pad_token_id={self.pad_token_id} is not possible: it must differ from eos_token_id, "
                "or the end of a sentence could not be told from padding."
            )
        self.check()

    @property
    def target_vocab_size(self) -> int:
        """Number of target symbols; with one matrix for all it is `vocab_size`, also after that was changed."""
        if self.weight_tying == "all" or self.decoder_vocab_size is None:
            return self.vocab_size
        return self.decoder_vocab_size

    @property
    def tie_word_embeddings(self) -> bool:
        """Hugging Face's name for "the projection is tied to an embedding"; a view of `weight_tying`."""
        return self.weight_tying != "none"

    @tie_word_embeddings.setter
    def tie_word_embeddings(self, value: bool):
        if value != self.tie_word_embeddings:
            self.weight_tying = "all" if value else "none"

    def check(self) -> None:
        """Raise a ValueError for the first value that breaks a rule (also called when a model is built)."""

        def rule(holds: bool, field: str, text: str) -> None:
            if not holds:
                raise ValueError(f"VaswaniConfig: {field}={getattr(self, field)!r} is not possible: {text}.")

        for field in (
            *("vocab_size", "decoder_vocab_size", "d_model", "encoder_layers", "decoder_layers"),
            *("encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim"),
            *("d_k", "d_v", "max_position_embeddings"),
        ):
            value = getattr(self, field)
            rule(value is None or value > 0, field, "it must be at least 1")
        for field in ("dropout", "attention_dropout", "activation_dropout", "label_smoothing"):
            rule(0 <= getattr(self, field) < 1, field, "a probability must be at least 0 and below 1")
        rule(self.layer_norm_eps > 0, "layer_norm_eps", "it must be above 0")
        rule(self.position_offset >= 0, "position_offset", "it must be 0 or more")
        for field, choices in (
            ("position_embedding", POSITION_EMBEDDINGS),
            ("sinusoid_layout", SINUSOID_LAYOUTS),
            ("weight_tying", WEIGHT_TYINGS),
            ("label_smoothing_type", LABEL_SMOOTHING_TYPES),
            ("activation_function", tuple(ACT2FN)),
        ):
            rule(getattr(self, field) in choices, field, f"it must be one of {', '.join(choices)}")

        for field in ("encoder_attention_heads", "decoder_attention_heads"):
            divides = self.d_model % getattr(self, field) == 0
            rule(
                divides or (self.d_k is not None and self.d_v is not None),
                field,
                f"d_model={self.d_model} must be divisible by it unless both d_k and d_v are given",
            )
        if self.position_embedding == "sinusoidal":
            rule(self.d_model % 2 == 0, "d_model", "sinusoids come in pairs of sine and cosine, so it must be even")
            if self.sinusoid_layout == "tensor2tensor":
                rule(self.d_model > 2, "d_model", "the tensor2tensor layout divides by d_model / 2 - 1")
        self._check_special_ids(rule)

    def _check_special_ids(self, rule) -> None:
        # The source side pads and ends its sentences, the target side uses every special symbol.
        smallest = min(self.vocab_size, self.target_vocab_size)
        for field, size in (
            ("pad_token_id", smallest),
            ("eos_token_id", smallest),
            ("bos_token_id", self.target_vocab_size),
            ("decoder_start_token_id", self.target_vocab_size),
        ):
            value = getattr(self, field)
            for token in value if isinstance(value, list) else [value]:
                rule(token is None or 0 <= token < size, field, f"it must be an id below the vocabulary size {size}")


# A saved folder carries this code, for those who do not have the package (`trust_remote_code=True`).
VaswaniConfig.register_for_auto_class()

__all__ = ["VaswaniConfig"]
