"""The paper's figures, from the one file that holds them (paper.json), and its models as configurations."""

import json
from pathlib import Path
from typing import Any

from .configuration_vaswani import VaswaniConfig

PAPER: dict[str, Any] = json.loads((Path(__file__).parent / "paper.json").read_text(encoding="utf-8"))


def paper_config(change: dict[str, Any], vocab_size: int = PAPER["vocab_size"]["en-de"]) -> VaswaniConfig:
    """The base model with `change` applied, as the rows of Table 3 state it.

    Args:
        change: in the table's terms: layers, d_model, d_ff, heads, d_k, d_v, dropout, label_smoothing,
            position_embedding. As in the table, d_k and d_v stay 64 unless the change says otherwise.
        vocab_size: symbols of the shared vocabulary.
    """
    row = {name: value for name, value in (PAPER["base"] | change).items() if name != "steps"}
    layers, heads, d_ff = row.pop("layers"), row.pop("heads"), row.pop("d_ff")
    return VaswaniConfig(
        vocab_size=vocab_size,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=d_ff,
        decoder_ffn_dim=d_ff,
        **row,
    )
