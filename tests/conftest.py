"""Small models and vocabularies that many tests use. Nothing here needs a network."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models this small only lose by threads

import pytest
import torch

from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration
from vaswani_mt.tasks.translation import TranslationTask
from vaswani_mt.tokenization import train_tokenizer

SENTENCES = [
    "The old man sees a small dog.",
    "A dog sees the man, and the man sleeps.",
    "Der alte Mann sieht einen kleinen Hund.",
    "Ein Hund sieht den Mann, und der Mann schläft.",
]


def small_config(**changes):
    """A model of a few thousand weights."""
    settings = {
        "vocab_size": 60,
        "d_model": 16,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
    }
    return VaswaniConfig(**settings | changes)


def small_model(seed=0, **changes):
    """A random small model in evaluation mode."""
    torch.manual_seed(seed)
    return VaswaniForConditionalGeneration(small_config(**changes)).eval()


@pytest.fixture
def task():
    """Translation of files that are not read: tests bring their own pairs."""
    return TranslationTask(train_files=["corpus.en", "corpus.de"], bleu_tokenize="none")


@pytest.fixture(scope="session")
def tokenizer():
    return train_tokenizer(SENTENCES, 300)


@pytest.fixture(scope="session")
def saved_model(tmp_path_factory, tokenizer):
    """Folder with a random model and its vocabulary, as training leaves one."""
    folder = tmp_path_factory.mktemp("model")
    small_model(vocab_size=len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
