"""Defaults are the paper's base model; impossible values are named."""

import pytest
from transformers import AutoConfig

from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration
from vaswani_mt.paper import PAPER, paper_config


def test_defaults_are_the_papers_base_model():
    config = VaswaniConfig()
    assert config.to_dict() == paper_config({}).to_dict() | {"d_k": None, "d_v": None}
    assert config.d_model // config.encoder_attention_heads == PAPER["base"]["d_k"]


def test_common_names_are_understood():
    config = VaswaniConfig(hidden_size=64, num_hidden_layers=3, num_attention_heads=4)
    assert (config.d_model, config.encoder_layers, config.encoder_attention_heads) == (64, 3, 4)


def test_tie_word_embeddings_is_a_view_of_weight_tying():
    assert VaswaniConfig().tie_word_embeddings is True
    assert VaswaniConfig(tie_word_embeddings=False).weight_tying == "none"
    assert VaswaniConfig(weight_tying="decoder").tie_word_embeddings is True


def test_survives_saving(tmp_path):
    config = VaswaniConfig(d_k=16, d_v=8, sinusoid_layout="tensor2tensor", weight_tying="none", decoder_vocab_size=9)
    config.save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).to_diff_dict() == config.to_diff_dict()


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"d_model": 7, "d_k": 2, "d_v": 2}, "d_model=7", "must be even"),
        ({"d_model": 2, "sinusoid_layout": "tensor2tensor", "d_k": 2, "d_v": 2}, "d_model=2", "d_model / 2 - 1"),
        ({"d_model": 512, "encoder_attention_heads": 7}, "encoder_attention_heads=7", "divisible"),
        ({"d_model": 512, "decoder_attention_heads": 7, "d_k": 3}, "decoder_attention_heads=7", "divisible"),
        ({"d_model": 0}, "d_model=0", "at least 1"),
        ({"encoder_layers": -1}, "encoder_layers=-1", "at least 1"),
        ({"decoder_ffn_dim": 0}, "decoder_ffn_dim=0", "at least 1"),
        ({"vocab_size": -5}, "vocab_size=-5", "at least 1"),
        ({"d_k": 0}, "d_k=0", "at least 1"),
        ({"max_position_embeddings": 0}, "max_position_embeddings=0", "at least 1"),
        ({"position_offset": -1}, "position_offset=-1", "0 or more"),
        ({"dropout": 1.0}, "dropout=1.0", "below 1"),
        ({"dropout": -0.1}, "dropout=-0.1", "at least 0"),
        ({"attention_dropout": 1.5}, "attention_dropout=1.5", "below 1"),
        ({"activation_dropout": 2}, "activation_dropout=2", "below 1"),
        ({"label_smoothing": 1}, "label_smoothing=1", "below 1"),
        ({"layer_norm_eps": 0.0}, "layer_norm_eps=0.0", "above 0"),
        ({"position_embedding": "rotary"}, "position_embedding='rotary'", "sinusoidal, learned"),
        ({"sinusoid_layout": "t2t"}, "sinusoid_layout='t2t'", "interleaved, concatenated, tensor2tensor"),
        ({"weight_tying": "some"}, "weight_tying='some'", "all, decoder, none"),
        ({"label_smoothing_type": "hf"}, "label_smoothing_type='hf'", "uniform, exclusive"),
        ({"activation_function": "rely"}, "activation_function='rely'", "relu"),
        ({"decoder_vocab_size": 10}, "decoder_vocab_size=10", "must equal vocab_size=37000"),
        ({"pad_token_id": 37000}, "pad_token_id=37000", "below the vocabulary size 37000"),
        ({"eos_token_id": -1}, "eos_token_id=-1", "below the vocabulary size"),
        ({"decoder_start_token_id": 99999}, "decoder_start_token_id=99999", "below the vocabulary size"),
        ({"pad_token_id": 2}, "pad_token_id=2", "differ from eos_token_id"),
    ],
)
def test_an_impossible_value_is_named_with_its_rule(changes, field, rule):
    with pytest.raises(ValueError, match="VaswaniConfig") as error:
        VaswaniConfig(**changes)
    assert field in str(error.value)
    assert rule in str(error.value)


def test_values_set_later_are_checked_when_a_model_is_built():
    config = VaswaniConfig()
    config.dropout = 3.0
    with pytest.raises(ValueError, match=r"dropout=3\.0"):
        VaswaniForConditionalGeneration(config)
