"""Beam search against enumeration of every output, and against a plain search written out here."""

import itertools
import math

import pytest
import torch

from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration
from vaswani_mt.search_vaswani import length_penalty

PAD, BOS, EOS, SIZE = 0, 1, 2, 6
ALPHAS = (0.0, 0.3, 0.6, 1.0)
PENALTIES = ("gnmt", "length")


def tiny_model(seed: int) -> VaswaniForConditionalGeneration:
    """A model of six symbols whose predictions are far from uniform and depend on the whole prefix."""
    torch.manual_seed(seed)
    config = VaswaniConfig(
        vocab_size=SIZE,
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        weight_tying="none",
    )
    model = VaswaniForConditionalGeneration(config).eval()
    with torch.no_grad():
        model.lm_head.weight.mul_(2)
        model.model.decoder.embed_tokens.weight.mul_(2)
    return model


def divisor(length: int, alpha: float, penalty: str) -> float:
    return ((5 + length) / 6) ** alpha if penalty == "gnmt" else length**alpha


def all_scores(model, source, limit: int) -> dict[tuple[int, ...], float]:
    """Summed log-probability of every output that ends within `limit` symbols, and of every one cut off there."""
    inner = [symbol for symbol in range(SIZE) if symbol not in (PAD, EOS)]
    prefixes = torch.tensor(list(itertools.product(inner, repeat=limit - 1)))
    inputs = torch.cat([torch.full((len(prefixes), 1), BOS), prefixes], 1)
    with torch.no_grad():
        logits = model(input_ids=source.expand(len(inputs), -1), decoder_input_ids=inputs).logits
    log_probs = logits.log_softmax(-1).tolist()
    scores = {}
    for prefix, steps in zip(prefixes.tolist(), log_probs, strict=True):
        total = 0.0
        for length in range(limit):
            scores[(*prefix[:length], EOS)] = total + steps[length][EOS]
            if length + 1 < limit:
                total += steps[length][prefix[length]]
        for symbol in inner:
            scores[(*prefix, symbol)] = total + steps[-1][symbol]
    return scores


def generated(row: torch.Tensor) -> tuple[int, ...]:
    symbols = row[1:].tolist()
    return tuple(symbols[: symbols.index(EOS) + 1] if EOS in symbols else [s for s in symbols if s != PAD])


@pytest.mark.parametrize("block", range(4))
def test_a_wide_beam_finds_the_best_of_all_outputs(block):
    # 50 models a block; 256 beams hold every prefix of 4 symbols.
    for seed in range(50 * block, 50 * block + 50):
        model = tiny_model(seed)
        source = torch.tensor([[3 + seed % 3, 4, 5, EOS]])
        scores = all_scores(model, source, limit=4)
        ended = {output: score for output, score in scores.items() if output[-1] == EOS}
        for alpha, penalty in itertools.product(ALPHAS, PENALTIES):
            best = max(ended, key=lambda y: ended[y] / divisor(len(y), alpha, penalty))
            found = model.generate(
                input_ids=source,
                num_beams=256,
                length_penalty=alpha,
                length_penalty_type=penalty,
                max_new_tokens=4,
                return_dict_in_generate=True,
            )
            assert generated(found.sequences[0]) == best, (seed, alpha, penalty)
            expected = ended[best] / divisor(len(best), alpha, penalty)
            assert found.sequences_scores[0].item() == pytest.approx(expected, abs=1e-4)


def test_with_transformers_rule_cut_off_outputs_compete_too():
    for seed in range(40):
        model = tiny_model(seed)
        source = torch.tensor([[3, 4, EOS]])
        scores = all_scores(model, source, limit=4)
        best = max(scores, key=lambda y: scores[y] / len(y))
        found = model.generate(
            input_ids=source,
            num_beams=256,
            length_penalty=1.0,
            length_penalty_type="length",
            early_stopping="never",
            max_new_tokens=4,
        )
        assert generated(found[0]) == best


def plain_search(model, source, limit: int, beams: int, alpha: float, penalty: str) -> list[tuple[float, tuple]]:
    """tensor2tensor's search in plain Python, never stopping before the limit: the `beams` best, best first."""

    def log_probs(prefix: tuple[int, ...]) -> list[float]:
        with torch.no_grad():
            logits = model(input_ids=source, decoder_input_ids=torch.tensor([[BOS, *prefix]])).logits
        return logits[0, -1].log_softmax(-1).tolist()

    alive: list[tuple[float, tuple]] = [(0.0, ())]
    finished: list[tuple[float, tuple]] = []
    going_on: list[tuple[float, tuple]] = []
    for length in range(1, limit + 1):
        candidates = [
            (score + more, (*prefix, symbol))
            for score, prefix in alive
            for symbol, more in enumerate(log_probs(prefix))
            if symbol != PAD
        ]
        candidates = sorted(candidates, reverse=True)[: 2 * beams]
        ended = [(score / divisor(length, alpha, penalty), y) for score, y in candidates if y[-1] == EOS]
        finished = sorted(finished + ended, reverse=True)[:beams]
        going_on = [(score, y) for score, y in candidates if y[-1] != EOS]
        alive = going_on[:beams]
    cut_off = [(score / divisor(limit, alpha, penalty), y) for score, y in going_on]
    return (finished + cut_off)[:beams]


@pytest.mark.parametrize("beams", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_narrow_beams_equal_the_plain_search(beams, penalty):
    for seed in range(30):
        model = tiny_model(1000 + seed)
        alpha = ALPHAS[seed % 4]
        sources = torch.tensor([[3, 4, 5, EOS], [5, EOS, PAD, PAD], [4, 4, EOS, PAD]])
        mask = (sources != PAD).long()
        found = model.generate(
            input_ids=sources,
            attention_mask=mask,
            num_beams=beams,
            num_return_sequences=beams,
            length_penalty=alpha,
            length_penalty_type=penalty,
            max_len_a=1,
            max_len_b=3,
            return_dict_in_generate=True,
        )
        for i in range(len(sources)):
            length = int(mask[i].sum())
            expected = plain_search(model, sources[i : i + 1, :length], length + 3, beams, alpha, penalty)
            for j, (score, symbols) in enumerate(expected):
                assert generated(found.sequences[i * beams + j]) == symbols, (seed, i, j)
                assert found.sequences_scores[i * beams + j].item() == pytest.approx(score, abs=1e-4)


def test_length_penalty_is_that_of_the_paper():
    # ((5 + 25) / 6)^0.6 = 5^0.6, and 25^0.6 with the other
    assert length_penalty(torch.tensor([25]), 0.6).item() == pytest.approx(2.6265278, rel=1e-6)
    assert length_penalty(torch.tensor([25]), 0.6, "length").item() == pytest.approx(math.exp(0.6 * math.log(25)))
    assert length_penalty(torch.tensor([1, 7]), 1.0).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"length_penalty_type='wu'.*gnmt"):
        length_penalty(torch.tensor([25]), 0.6, "wu")
