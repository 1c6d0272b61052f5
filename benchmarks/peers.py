"""The same weights in other programs: transformers' MarianMT and CTranslate2."""

from pathlib import Path
from typing import Any

import torch
from transformers import MarianConfig, MarianMTModel

from vaswani_mt import VaswaniForConditionalGeneration


def as_marian(model: VaswaniForConditionalGeneration) -> MarianMTModel:
    """MarianMT with `model`'s weights and, since MarianMT keeps its positions as weights, its positions too.

    Args:
        model: base-like: one vocabulary, sinusoids, d_k = d_v = d_model / h.

    Returns:
        the same function of the same inputs, padding never generated, in the dtype of `model`.
    """
    ours = model.config
    config = MarianConfig(
        vocab_size=ours.vocab_size,
        d_model=ours.d_model,
        encoder_layers=ours.encoder_layers,
        decoder_layers=ours.decoder_layers,
        encoder_ffn_dim=ours.encoder_ffn_dim,
        decoder_ffn_dim=ours.decoder_ffn_dim,
        encoder_attention_heads=ours.encoder_attention_heads,
        decoder_attention_heads=ours.decoder_attention_heads,
        activation_function=ours.activation_function,
        scale_embedding=ours.scale_embedding,
        max_position_embeddings=1024,
        pad_token_id=ours.pad_token_id,
        bos_token_id=ours.bos_token_id,
        eos_token_id=ours.eos_token_id,
        decoder_start_token_id=ours.decoder_start_token_id,
        forced_eos_token_id=None,
        dropout=ours.dropout,
    )
    marian = MarianMTModel(config)
    mine, theirs = model.state_dict(), marian.state_dict()
    renamed = {
        "self_attn_residual.layer_norm": "self_attn_layer_norm",
        "encoder_attn_residual.layer_norm": "encoder_attn_layer_norm",
        "feed_forward_residual.layer_norm": "final_layer_norm",
        "feed_forward.fc": "fc",
        "model.encoder.embed_tokens": "model.shared",
    }
    with torch.no_grad():
        for tensor in theirs.values():  # what `model` lacks (biases) is zero
            tensor.zero_()
        for name, tensor in mine.items():
            for part, other in renamed.items():
                name = name.replace(part, other)
            theirs[name].copy_(tensor)
        for stack in ("encoder", "decoder"):
            for module in getattr(marian.model, stack).modules():
                if isinstance(module, torch.nn.LayerNorm):
                    module.eps = ours.layer_norm_eps
            positions: Any = getattr(model.model, stack).embedding.positions
            table = positions.compute(config.max_position_embeddings)
            getattr(marian.model, stack).embed_positions.weight.copy_(table)
    marian.tie_weights()
    # A model that never generates padding needs no more than that in its configuration.
    marian.generation_config.bad_words_ids = [[ours.pad_token_id]]
    return marian.to(model.dtype).eval()


def as_ctranslate2(model: VaswaniForConditionalGeneration, folder: Path, symbols: list[str]) -> Path:
    """Write `model` for CTranslate2, its symbols being `symbols` [V]; see `ctranslate2.Translator`."""
    from ctranslate2.converters import transformers as converters

    marian: Any = as_marian(model.float())
    marian.config.normalize_before = marian.config.normalize_embedding = False
    loader: Any = converters.MarianMTLoader()
    loader._remove_pad_weights = lambda spec: None
    spec = converters.BartLoader.get_model_spec(loader, marian)
    spec.register_source_vocabulary(symbols)
    spec.register_target_vocabulary(symbols)
    config = model.config
    spec.config.eos_token = symbols[config.eos_token_id]
    spec.config.unk_token = symbols[config.pad_token_id]
    spec.config.decoder_start_token = symbols[config.decoder_start_token_id]
    spec.config.add_source_eos = False
    spec.validate()
    spec.optimize(quantization=None)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    return folder
