"""transformers' generation behaviours: the same outputs as its own MarianMT with the same weights."""

import pytest
import torch
from transformers import GenerationConfig, TextStreamer, set_seed
from transformers.generation import LogitsProcessor, StoppingCriteria
from transformers.generation.streamers import BaseStreamer

from benchmarks.peers import as_marian
from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration
from vaswani_mt.decoding_vaswani import DecoderWeights, can_step

PAD, BOS, EOS, SIZE = 0, 1, 2, 40
HF = {"length_penalty_type": "length", "length_penalty": 1.0}
LIMIT = {"max_new_tokens": 12}


def random_model(seed: int = 0, **settings) -> VaswaniForConditionalGeneration:
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_layers": 2, "decoder_layers": 2}
    config = VaswaniConfig(vocab_size=SIZE, attention_bias=True, **sizes, **heads, weight_tying="all", **settings)
    model = VaswaniForConditionalGeneration(config).eval()
    with torch.no_grad():  # an end symbol that comes up now and then, and predictions that are not all one symbol
        model.get_input_embeddings().weight.mul_(1.5)
    return model


@pytest.fixture(scope="module")
def model():
    return random_model()


@pytest.fixture(scope="module")
def marian(model):
    return as_marian(model)


@pytest.fixture(scope="module")
def batch():
    """48 sentences of 2 to 14 symbols, padded on the right."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(2, 15, (48,), generator=generator)
    ids = torch.randint(3, SIZE, (48, 14), generator=generator)
    places = torch.arange(14)
    ids = ids.masked_fill(places == lengths[:, None] - 1, EOS).masked_fill(places >= lengths[:, None], PAD)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long()}


def same(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    width = max(ours.shape[1], theirs.shape[1])
    ours, theirs = (torch.nn.functional.pad(part, (0, width - part.shape[1]), value=PAD) for part in (ours, theirs))
    return torch.equal(ours, theirs)


@pytest.mark.parametrize("early_stopping", [True, False, "never"])
@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0, -0.5])
def test_with_transformers_rules_beam_search_equals_marians(model, marian, batch, early_stopping, alpha):
    settings = {"num_beams": 4, "num_return_sequences": 4, "length_penalty": alpha, "early_stopping": early_stopping}
    settings |= {"return_dict_in_generate": True, "output_scores": True, **LIMIT}
    theirs = marian.generate(**batch, **settings)
    for more in ({}, {"output_hidden_states": True}):  # the fast decoder, and the model's own forward
        ours = model.generate(**batch, **settings, **more, length_penalty_type="length")
        assert same(ours.sequences, theirs.sequences)
        torch.testing.assert_close(ours.sequences_scores, theirs.sequences_scores, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.beam_indices, theirs.beam_indices)
    settings["output_scores"] = False  # without which sentences leave the batch when they are finished
    ours = model.generate(**batch, **settings, length_penalty_type="length")
    assert same(ours.sequences, theirs.sequences)
    torch.testing.assert_close(ours.sequences_scores, theirs.sequences_scores, atol=1e-5, rtol=1e-5)


class NoEvenAfterOdd(LogitsProcessor):
    """Looks at the last symbol of each row."""

    def __call__(self, input_ids, scores):
        even = torch.arange(scores.shape[1]) % 2 == 0
        return scores.masked_fill((input_ids[:, -1:] % 2 == 1) & even & (torch.arange(scores.shape[1]) != EOS), -1e4)


class StopAfter(StoppingCriteria):
    """Ends a row at its first symbol 7 or 9."""

    def __call__(self, input_ids, scores, **kwargs):
        return ((input_ids[:, -1] == 7) | (input_ids[:, -1] == 9)) & (input_ids.shape[1] > 1)


BEHAVIOURS = {
    "plain": {},
    "bad words": {"bad_words_ids": [[5], [7, 9], [PAD]]},
    "no repeats": {"no_repeat_ngram_size": 2, "repetition_penalty": 1.3},
    "forced": {"forced_bos_token_id": 11, "forced_eos_token_id": EOS},
    "least length": {"min_new_tokens": 9},
    "least total length": {"min_length": 8},
    "suppressed": {"suppress_tokens": [4, 6, 8]},
    "bias": {"sequence_bias": {(5,): 2.0, (6, 7): -3.0}},
    "allowed": {
        "prefix_allowed_tokens_fn": lambda sentence, prefix: [EOS, 3 + sentence % 5, 9 + len(prefix), 25, 26, 27]
    },
    "processor": {"logits_processor": [NoEvenAfterOdd()]},
    "criterion": {"stopping_criteria": [StopAfter()]},
    "two ends": {"eos_token_id": [EOS, 5]},
}


@pytest.mark.parametrize("name", BEHAVIOURS)
@pytest.mark.parametrize("beams", [1, 3])
def test_processors_and_criteria_act_as_in_marian(model, marian, batch, name, beams):
    settings = LIMIT | BEHAVIOURS[name] | {"num_beams": beams}
    ours = model.generate(**batch, **settings, **(HF | {"early_stopping": False} if beams > 1 else {}))
    assert same(ours, marian.generate(**batch, **({"bad_words_ids": [[PAD]]} | settings)))


def test_padding_is_never_generated(batch):
    model = random_model(3, lm_head_bias=True)
    with torch.no_grad():
        model.lm_head.bias[PAD] = 50.0
    for settings in ({"num_beams": 3}, {}, {"do_sample": True}, {"num_beams": 2, "do_sample": True}):
        sequences = model.generate(**batch, **settings, **LIMIT)
        ended = (sequences == EOS).cumsum(1) - (sequences == EOS).long() > 0
        assert not ((sequences == PAD) & ~ended)[:, 1:].any()


@pytest.mark.parametrize("num_beams", [1, 4])
def test_batch_size_and_order_change_nothing(model, batch, num_beams):
    settings = {"num_beams": num_beams, "return_dict_in_generate": True}
    whole = model.generate(**batch, **settings)
    order = torch.randperm(48, generator=torch.Generator().manual_seed(2))
    for size in (1, 7, 32):
        for places in order.split(size):
            part = {name: tensor[places] for name, tensor in batch.items()}
            length = int(part["attention_mask"].sum(1).max())
            part = {name: tensor[:, :length] for name, tensor in part.items()}
            found = model.generate(**part, **settings)
            assert same(found.sequences, whole.sequences[places])
            if num_beams > 1:
                torch.testing.assert_close(
                    found.sequences_scores, whole.sequences_scores[places], atol=1e-4, rtol=0, equal_nan=True
                )


@pytest.mark.parametrize("penalty", ["gnmt", "length"])
def test_scores_are_those_of_a_forced_pass(model, batch, penalty):
    found = model.generate(
        **batch,
        num_beams=5,
        num_return_sequences=5,
        length_penalty_type=penalty,
        return_dict_in_generate=True,
        **LIMIT,
    )
    sources = {name: tensor.repeat_interleave(5, 0) for name, tensor in batch.items()}
    with torch.no_grad():
        logits = model(**sources, decoder_input_ids=found.sequences[:, :-1]).logits
    targets = found.sequences[:, 1:]
    log_probs = logits.log_softmax(-1).gather(2, targets[..., None])[..., 0] * (targets != PAD)
    lengths = (targets != PAD).sum(1)
    alpha = 0.6 if penalty == "gnmt" else 1.0
    expected = log_probs.sum(1) / ((5 + lengths) / 6 if penalty == "gnmt" else lengths) ** alpha
    torch.testing.assert_close(found.sequences_scores, expected, atol=1e-4, rtol=0)
    assert (found.sequences_scores.view(48, 5).diff(dim=1) <= 0).all()


def test_transition_scores_add_up_to_the_sequence_scores(model, batch):
    found = model.generate(**batch, num_beams=4, return_dict_in_generate=True, output_scores=True, **HF, **LIMIT)
    transitions = model.compute_transition_scores(found.sequences, found.scores, found.beam_indices)
    lengths = (found.sequences[:, 1:] != PAD).sum(1)
    torch.testing.assert_close(transitions.sum(1) / lengths, found.sequences_scores, atol=1e-5, rtol=0)


def test_greedy_scores_and_logits_equal_marians(model, marian, batch):
    settings = {"return_dict_in_generate": True, "output_scores": True, "output_logits": True, **LIMIT}
    ours, theirs = model.generate(**batch, **settings), marian.generate(**batch, **settings)
    assert same(ours.sequences, theirs.sequences)
    torch.testing.assert_close(torch.stack(ours.logits)[0], torch.stack(theirs.logits)[0], atol=1e-5, rtol=1e-5)
    transitions = model.compute_transition_scores(ours.sequences, ours.scores, normalize_logits=True)
    expected = marian.compute_transition_scores(theirs.sequences, theirs.scores, normalize_logits=True)
    alive = ours.sequences[:, 1:] != PAD
    torch.testing.assert_close(transitions[alive], expected[alive], atol=1e-4, rtol=0)


def test_attentions_and_hidden_states_have_transformers_shapes(model, batch):
    model.set_attn_implementation("eager")
    found = model.generate(
        **batch, num_beams=3, return_dict_in_generate=True, output_attentions=True, output_hidden_states=True, **LIMIT
    )
    steps = found.sequences.shape[1] - 1
    assert len(found.cross_attentions) >= steps
    assert found.cross_attentions[0][0].shape == (48 * 3, 4, 1, 14)
    assert found.decoder_hidden_states[1][0].shape == (48 * 3, 1, 32)
    assert len(found.encoder_attentions) == 2
    model.set_attn_implementation("sdpa")


@pytest.mark.parametrize("settings", [{}, {"num_beams": 4, "num_return_sequences": 2}], ids=["greedy", "beams"])
def test_return_attention_equals_the_models_own(model, batch, settings):
    found = model.generate(**batch, **settings, return_attention=True, **LIMIT)
    number = settings.get("num_return_sequences", 1)
    sources = {name: tensor.repeat_interleave(number, 0) for name, tensor in batch.items()}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**sources, decoder_input_ids=found.sequences[:, :-1], output_attentions=True)
    model.set_attn_implementation("sdpa")
    expected = torch.stack([layer.mean(1) for layer in outputs.cross_attentions], 2)  # [n, T, layers, S]
    written = (found.sequences[:, 1:] != PAD)[..., None, None]
    torch.testing.assert_close(found.source_attention, expected * written, atol=1e-5, rtol=0)


def test_sampling(model, batch):
    settings = {"do_sample": True, "num_return_sequences": 3, **LIMIT}
    set_seed(5)
    first = model.generate(**batch, **settings)
    set_seed(5)
    assert torch.equal(first, model.generate(**batch, **settings))
    assert first.shape[0] == 48 * 3
    assert not torch.equal(first[0], first[1]) or not torch.equal(first[3], first[4])
    greedy = model.generate(**batch, **LIMIT)
    assert same(model.generate(**batch, do_sample=True, top_k=1, **LIMIT), greedy)
    beams = model.generate(**batch, num_beams=3, do_sample=True, top_k=5, **LIMIT)
    assert beams.shape[0] == 48


def test_sampled_symbols_have_the_models_distribution(model):
    source = torch.tensor([[5, 9, EOS]])
    with torch.no_grad():
        logits = model(input_ids=source, decoder_input_ids=torch.tensor([[BOS]])).logits[0, -1]
    logits[PAD] = -torch.inf
    set_seed(0)
    first = model.generate(input_ids=source, do_sample=True, num_return_sequences=4000, max_new_tokens=1)[:, 1]
    share = first.bincount(minlength=SIZE) / 4000
    assert (share - logits.softmax(-1)).abs().max() < 0.03  # 4 standard deviations of a share of one half


class Collected(BaseStreamer):
    def __init__(self):
        self.symbols, self.ended = [], False

    def put(self, value):
        self.symbols += value.flatten().tolist()

    def end(self):
        self.ended = True


def test_streamers_get_every_symbol_of_greedy_search(model, batch):
    one = {name: tensor[:1] for name, tensor in batch.items()}
    streamer = Collected()
    sequence = model.generate(**one, streamer=streamer, **LIMIT)
    assert streamer.symbols == sequence[0].tolist()
    assert streamer.ended
    assert issubclass(TextStreamer, BaseStreamer)


def test_a_prompt_is_continued_as_in_marian(model, marian, batch):
    prompt = torch.tensor([[BOS, 5, 9]]).expand(48, -1)
    for settings in ({"num_beams": 3, **HF, "early_stopping": False}, {}):
        theirs = marian.generate(
            **batch,
            decoder_input_ids=prompt,
            max_new_tokens=8,
            **{name: value for name, value in settings.items() if name != "length_penalty_type"},
        )
        assert same(model.generate(**batch, decoder_input_ids=prompt, max_new_tokens=8, **settings), theirs)


def test_padding_on_either_side_gives_the_same(model, batch):
    ids, mask = batch["input_ids"][:6], batch["attention_mask"][:6]
    shifts = 14 - mask.sum(1)
    left = torch.stack([row.roll(int(shift)) for row, shift in zip(ids, shifts, strict=True)])
    ours = model.generate(input_ids=left, attention_mask=(left != PAD).long(), num_beams=4)
    assert same(ours, model.generate(input_ids=ids, attention_mask=mask, num_beams=4))


def test_an_ensemble_averages_log_probabilities(batch):
    first, second = random_model(1), random_model(2)
    single = first.generate(**batch, num_beams=4, return_dict_in_generate=True, **LIMIT)
    twice = first.generate(**batch, num_beams=4, return_dict_in_generate=True, ensemble=[first], **LIMIT)
    assert same(single.sequences, twice.sequences)
    found = first.generate(**batch, num_beams=4, return_dict_in_generate=True, ensemble=[second], **LIMIT)
    assert not same(found.sequences, single.sequences)
    with torch.no_grad():
        log_probs = [
            m(**batch, decoder_input_ids=found.sequences[:, :-1]).logits.log_softmax(-1) for m in (first, second)
        ]
    targets = found.sequences[:, 1:]
    mean = (sum(log_probs) / 2).gather(2, targets[..., None])[..., 0] * (targets != PAD)
    lengths = (targets != PAD).sum(1)
    torch.testing.assert_close(found.sequences_scores, mean.sum(1) / ((5 + lengths) / 6) ** 0.6, atol=1e-4, rtol=0)
    greedy = first.generate(**batch, ensemble=[second], max_new_tokens=1)[:, 1]
    start = torch.full((48, 1), BOS)
    with torch.no_grad():
        mean = sum(m(**batch, decoder_input_ids=start).logits[:, 0].log_softmax(-1) for m in (first, second))
    mean[:, PAD] = -torch.inf
    assert torch.equal(greedy, mean.argmax(-1))


def test_an_ensemble_of_two_vocabularies_is_refused(model, batch):
    other = VaswaniForConditionalGeneration(
        VaswaniConfig(vocab_size=SIZE + 1, d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                      decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8)
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"need one vocabulary: one has 41 target symbols, another 40"):
        model.generate(**batch, ensemble=[other.eval()])
    with pytest.raises(ValueError, match="ensemble and return_attention need plain models in evaluation mode"):
        model.generate(**batch, ensemble=[random_model(1).train()])


def test_changed_weights_are_noticed(batch):
    model = random_model(4)
    before = DecoderWeights.of(model)
    assert DecoderWeights.of(model) is before
    other = random_model(5)
    for change in ("load", "data"):
        if change == "load":
            model.load_state_dict(other.state_dict())
        else:
            for parameter in model.parameters():
                parameter.data.mul_(0.5)
            other = model
        expected = other.generate(
            **batch, num_beams=3, output_hidden_states=True, return_dict_in_generate=True, **LIMIT
        )
        assert same(model.generate(**batch, num_beams=3, **LIMIT), expected.sequences)


def test_what_the_fast_decoder_cannot_do_goes_through_the_model(batch):
    model = random_model(6)
    assert can_step(model)
    assert not can_step(model.train())
    model.eval()
    expected = model.generate(**batch, num_beams=2, **LIMIT)
    seen = []
    handle = model.model.decoder.layers[0].register_forward_hook(lambda *args: seen.append(1))
    assert not can_step(model)
    assert same(model.generate(**batch, num_beams=2, **LIMIT), expected)
    assert seen
    handle.remove()
    assert can_step(model)
    assert same(model.generate(**batch, num_beams=2, use_cache=False, **LIMIT), expected)


@pytest.mark.parametrize("settings", [{"weight_tying": "decoder", "decoder_vocab_size": 23}, {"d_k": 4, "d_v": 12},
                                      {"position_embedding": "learned", "max_position_embeddings": 64},
                                      {"activation_function": "gelu", "lm_head_bias": True}])  # fmt: skip
@pytest.mark.parametrize("beams", [1, 4])
def test_every_kind_of_model_decodes_as_its_own_forward_does(batch, settings, beams):
    torch.manual_seed(8)
    config = VaswaniConfig(
        **{"vocab_size": SIZE, "d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4,
           "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48} | settings
    )  # fmt: skip
    model = VaswaniForConditionalGeneration(config).eval()
    expected = model.generate(
        **batch, num_beams=beams, output_hidden_states=True, return_dict_in_generate=True, **LIMIT
    )
    assert same(model.generate(**batch, num_beams=beams, **LIMIT), expected.sequences)


def test_a_long_wide_search_forgets_what_no_hypothesis_needs(batch):
    """Far more slots are written than memory has room for at first."""
    model = random_model(9)
    settings = {"num_beams": 9, "min_new_tokens": 70, "max_new_tokens": 80, "return_dict_in_generate": True}
    fast = model.generate(**batch, **settings)
    slow = model.generate(**batch, **settings, output_hidden_states=True)
    assert same(fast.sequences, slow.sequences)
    torch.testing.assert_close(fast.sequences_scores, slow.sequences_scores, atol=1e-3, rtol=0)


def test_bfloat16_scores_are_close_to_those_of_a_forced_pass(batch):
    model = random_model(10).to(torch.bfloat16)
    found = model.generate(**batch, num_beams=4, return_dict_in_generate=True, **LIMIT)
    with torch.no_grad():
        logits = model(**batch, decoder_input_ids=found.sequences[:, :-1]).logits.float()
    targets = found.sequences[:, 1:]
    total = (logits.log_softmax(-1).gather(2, targets[..., None])[..., 0] * (targets != PAD)).sum(1)
    lengths = (targets != PAD).sum(1)
    torch.testing.assert_close(found.sequences_scores, total / ((5 + lengths) / 6) ** 0.6, atol=0.2, rtol=0.02)


def test_defaults_are_the_papers_and_settings_are_saved(model, batch, tmp_path):
    assert same(
        model.generate(**batch, num_beams=4),
        model.generate(
            **batch, num_beams=4, length_penalty=0.6, length_penalty_type="gnmt", max_len_a=1.0, max_len_b=50
        ),
    )
    saved = random_model()
    saved.generation_config.update(num_beams=3, length_penalty=0.3)
    saved.generation_config.length_penalty_type = "length"
    saved.generation_config.max_len_b = 3
    saved.save_pretrained(tmp_path)
    loaded = VaswaniForConditionalGeneration.from_pretrained(tmp_path)
    config = GenerationConfig.from_pretrained(tmp_path)
    assert (config.length_penalty_type, config.max_len_b, config.length_penalty) == ("length", 3, 0.3)
    expected = model.generate(**batch, num_beams=3, length_penalty=0.3, length_penalty_type="length", max_len_b=3)
    assert same(loaded.generate(**batch), expected)
    with pytest.raises(ValueError, match="length_penalty_type='marian' is not possible"):
        loaded.generate(**batch, length_penalty_type="marian")


def test_a_generation_configuration_need_not_repeat_the_special_symbols(model, batch):
    expected = model.generate(**batch, num_beams=2, **LIMIT)
    bare = random_model()
    bare.generation_config = GenerationConfig(num_beams=2, max_new_tokens=12)
    assert same(bare.generate(**batch), expected)
