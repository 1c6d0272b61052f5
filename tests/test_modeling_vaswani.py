"""The model against the paper's formulas and against HF's MarianMT with the same weights."""

import math

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, EncoderDecoderCache, MarianConfig, MarianMTModel

from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration, VaswaniModel
from vaswani_mt.modeling_vaswani import linear_cross_entropy, sinusoid_table

from .conftest import small_config, small_model


def tokens(rows=3, length=7, vocabulary=60, seed=1):
    return torch.randint(3, vocabulary, (rows, length), generator=torch.Generator().manual_seed(seed))


# --- Section 3.5 ---------------------------------------------------------------------------------------------------


def test_sinusoids_are_the_papers_formula():
    table = sinusoid_table(50, 8)
    for position in (0, 1, 49):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_layouts_of_other_toolkits():
    position, half = 5, 4
    marian = sinusoid_table(6, 8, "concatenated")[position]
    fairseq = sinusoid_table(4, 8, "tensor2tensor", first=2)[position - 2]
    for i in range(half):
        assert marian[i].item() == pytest.approx(math.sin(position / 10000 ** (2 * i / 8)), abs=1e-6)
        assert marian[half + i].item() == pytest.approx(math.cos(position / 10000 ** (2 * i / 8)), abs=1e-6)
        assert fairseq[i].item() == pytest.approx(math.sin(position / 10000 ** (i / (half - 1))), abs=1e-6)
        assert fairseq[half + i].item() == pytest.approx(math.cos(position / 10000 ** (i / (half - 1))), abs=1e-6)


def test_sinusoids_are_not_saved_and_exact_after_loading(tmp_path):
    model = small_model()
    model.save_pretrained(tmp_path)
    expected = sinusoid_table(model.config.max_position_embeddings, 16)
    for settings in ({}, {"device_map": "cpu"}, {"device_map": {"": "cpu"}}, {"low_cpu_mem_usage": True}):
        loaded, info = AutoModelForSeq2SeqLM.from_pretrained(tmp_path, output_loading_info=True, **settings)
        assert not info["missing_keys"]
        assert not info["unexpected_keys"]
        for stack in (loaded.model.encoder, loaded.model.decoder):
            assert torch.equal(stack.embedding.positions.table, expected)
    assert not any("position" in name for name in model.state_dict())


def test_inputs_longer_than_the_table_work_and_equal_a_model_with_a_larger_table():
    short, long = small_model(max_position_embeddings=8), small_model(max_position_embeddings=64)
    ids = tokens(length=40)
    assert torch.equal(short(ids, decoder_input_ids=ids).logits, long(ids, decoder_input_ids=ids).logits)
    assert short.generate(ids, max_new_tokens=30).shape == (3, 31)


def test_learned_positions_refuse_longer_inputs():
    model = small_model(position_embedding="learned", max_position_embeddings=8)
    assert model(tokens(length=8), decoder_input_ids=tokens(length=8)).logits.shape == (3, 8, 60)
    with pytest.raises(ValueError, match="9 tokens is longer than the 8 positions"):
        model(tokens(length=9), decoder_input_ids=tokens())


# --- Sections 3.1 to 3.4 -------------------------------------------------------------------------------------------


def test_one_encoder_layer_is_the_papers_formulas_written_out():
    model = small_model(encoder_layers=1, encoder_attention_heads=2, attention_bias=True)
    weights = {name: value.double() for name, value in model.model.encoder.state_dict().items()}
    ids = tokens(rows=1, length=5)
    x = F.embedding(ids[0], weights["embed_tokens.weight"]) * math.sqrt(16) + sinusoid_table(5, 16).double()

    def linear(name, states):
        return states @ weights[f"layers.0.{name}.weight"].T + weights[f"layers.0.{name}.bias"]

    def norm(name, states):
        centred = states - states.mean(-1, keepdim=True)
        scaled = centred / (centred.pow(2).mean(-1, keepdim=True) + model.config.layer_norm_eps).sqrt()
        return scaled * weights[f"layers.0.{name}.layer_norm.weight"] + weights[f"layers.0.{name}.layer_norm.bias"]

    q, k, v = (linear(f"self_attn.{name}_proj", x) for name in "qkv")
    heads = [((q[:, s] @ k[:, s].T) / math.sqrt(8)).softmax(-1) @ v[:, s] for s in (slice(0, 8), slice(8, 16))]
    x = norm("self_attn_residual", x + linear("self_attn.out_proj", torch.cat(heads, -1)))
    x = norm("feed_forward_residual", x + linear("feed_forward.fc2", linear("feed_forward.fc1", x).clamp(min=0)))
    output = model.model.encoder(ids).last_hidden_state[0]
    torch.testing.assert_close(output.double(), x, atol=1e-5, rtol=0)


def test_initialisation_is_glorot_and_embeddings_have_the_standard_deviation_of_the_width():
    torch.manual_seed(0)
    model = VaswaniForConditionalGeneration(VaswaniConfig(vocab_size=5000, encoder_layers=1, decoder_layers=1))
    embedding = model.model.encoder.embed_tokens.weight
    assert embedding[3:].std().item() == pytest.approx(512**-0.5, rel=0.01)
    assert embedding[0].abs().max() == 0
    for name, parameter in model.named_parameters():
        if name.endswith(("_proj.weight", "fc1.weight", "fc2.weight")):
            bound = math.sqrt(6 / sum(parameter.shape))
            assert parameter.abs().max().item() == pytest.approx(bound, rel=0.01)
            assert parameter.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(("tying", "matrices"), [("all", 1), ("decoder", 2), ("none", 3)])
def test_weight_tying_survives_saving(tmp_path, tying, matrices):
    model = small_model(weight_tying=tying)
    model.save_pretrained(tmp_path)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path)
    for one in (model, loaded):
        pointers = {
            one.model.encoder.embed_tokens.weight.data_ptr(),
            one.model.decoder.embed_tokens.weight.data_ptr(),
            one.lm_head.weight.data_ptr(),
        }
        assert len(pointers) == matrices
    ids = tokens()
    assert torch.equal(model(ids, decoder_input_ids=ids).logits, loaded(ids, decoder_input_ids=ids).logits)


def test_dk_and_dv_are_free_of_the_width():
    model = small_model(d_k=3, d_v=5)
    attention = model.model.decoder.layers[0].self_attn
    assert attention.q_proj.weight.shape == (12, 16)
    assert attention.v_proj.weight.shape == (20, 16)
    ids = tokens()
    whole = model(ids, decoder_input_ids=ids).logits
    model.set_attn_implementation("eager")
    torch.testing.assert_close(model(ids, decoder_input_ids=ids).logits, whole, atol=1e-5, rtol=0)


# --- MarianMT ------------------------------------------------------------------------------------------------------


def marian_pair(seed, **sizes):
    """A random MarianMTModel, and ours with its weights, in its layout of positions."""
    torch.manual_seed(seed)
    settings = {"activation_function": "relu", "scale_embedding": True, "pad_token_id": 0, "eos_token_id": 2}
    settings |= {"bos_token_id": 1, "decoder_start_token_id": 0, "forced_eos_token_id": None, "init_std": 0.2}
    marian = MarianMTModel(MarianConfig(**settings, **sizes)).eval()
    torch.nn.init.normal_(marian.final_logits_bias)
    sizes.pop("max_position_embeddings", None)
    config = VaswaniConfig(
        **sizes,
        sinusoid_layout="concatenated",
        attention_bias=True,
        lm_head_bias=True,
        layer_norm_eps=1e-5,
        decoder_start_token_id=0,
    )
    ours = VaswaniForConditionalGeneration(config).eval()
    renamed = {}
    for name, value in marian.state_dict().items():
        if "embed_positions" in name or name == "model.shared.weight":
            continue
        for theirs, mine in (
            ("_attn_layer_norm.", "_attn_residual.layer_norm."),
            ("final_layer_norm.", "feed_forward_residual.layer_norm."),
            (".fc1.", ".feed_forward.fc1."),
            (".fc2.", ".feed_forward.fc2."),
        ):
            name = name.replace(theirs, mine)
        renamed["lm_head.bias" if name == "final_logits_bias" else name] = value.flatten() if "bias" in name else value
    ours.load_state_dict(renamed)
    return marian, ours


SIZES = [
    {"d_model": 16, "layers": 1, "heads": 2, "ffn": 32},
    {"d_model": 64, "layers": 3, "heads": 8, "ffn": 96},
    {"d_model": 128, "layers": 2, "heads": 4, "ffn": 512},
]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"d{size['d_model']}")
def test_equals_marian_in_one_pass_and_step_by_step(size):
    marian, ours = marian_pair(
        size["d_model"],
        vocab_size=97,
        d_model=size["d_model"],
        **{f"{side}_{name}": size[key] for side in ("encoder", "decoder") for name, key in (
            ("layers", "layers"), ("attention_heads", "heads"), ("ffn_dim", "ffn"))},
    )  # fmt: skip
    source, target = tokens(length=11, vocabulary=97), tokens(length=9, vocabulary=97, seed=2)
    source[1, 8:], source[2, 4:] = 0, 0
    mask = (source != 0).long()
    expected = marian(source, attention_mask=mask, decoder_input_ids=target).logits
    one_pass = ours(source, attention_mask=mask, decoder_input_ids=target)
    torch.testing.assert_close(one_pass.logits, expected, atol=1e-5, rtol=0)
    cache, steps = None, []
    encoded = ours.get_encoder()(source, attention_mask=mask)
    for t in range(target.shape[1]):
        output = ours(
            encoder_outputs=encoded,
            attention_mask=mask,
            decoder_input_ids=target[:, t : t + 1],
            past_key_values=cache,
            use_cache=True,
        )
        cache = output.past_key_values
        steps.append(output.logits)
    assert isinstance(cache, EncoderDecoderCache)
    torch.testing.assert_close(torch.cat(steps, 1), expected, atol=1e-5, rtol=0)


# --- Padding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
@pytest.mark.parametrize("layout", ["sinusoidal", "learned"])
def test_padding_left_or_right_changes_nothing(implementation, layout):
    model = small_model(position_embedding=layout)
    model.set_attn_implementation(implementation)
    ids, target = tokens(rows=1, length=5), tokens(rows=1, length=4, seed=3)
    plain = model(ids, decoder_input_ids=target).logits
    pad, mask = torch.zeros(1, 3, dtype=torch.long), torch.ones(1, 5, dtype=torch.long)
    for order in ([ids, pad], [pad, ids]):
        masks = [mask if part is ids else pad for part in order]
        padded = model(torch.cat(order, 1), attention_mask=torch.cat(masks, 1), decoder_input_ids=target).logits
        torch.testing.assert_close(padded, plain, atol=1e-5, rtol=0)
    left = model(
        ids,
        decoder_input_ids=torch.cat([pad, target], 1),
        decoder_attention_mask=torch.cat([pad, torch.ones_like(target)], 1),
    ).logits[:, 3:]
    torch.testing.assert_close(left, plain, atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_row_of_nothing_but_padding_stays_finite(dtype, implementation):
    model = small_model().to(dtype)
    model.set_attn_implementation(implementation)
    ids = tokens(rows=2)
    mask = torch.ones_like(ids)
    mask[1] = 0
    assert model(ids, attention_mask=mask, decoder_input_ids=ids).logits.isfinite().all()
    loss = model.train()(ids, attention_mask=mask, labels=ids).loss
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


# --- What Hugging Face users expect --------------------------------------------------------------------------------


def test_attentions_and_hidden_states_on_request():
    model = small_model()
    model.set_attn_implementation("eager")
    ids, target = tokens(), tokens(length=4)
    output = model(ids, decoder_input_ids=target, output_attentions=True, output_hidden_states=True)
    assert [tuple(a.shape) for a in output.encoder_attentions] == [(3, 4, 7, 7)] * 2
    assert [tuple(a.shape) for a in output.cross_attentions] == [(3, 4, 4, 7)] * 2
    assert [tuple(a.shape) for a in output.decoder_attentions] == [(3, 4, 4, 4)] * 2
    assert len(output.encoder_hidden_states) == len(output.decoder_hidden_states) == 3
    for attention in output.decoder_attentions:
        torch.testing.assert_close(attention.sum(-1), torch.ones(3, 4, 4))
        assert attention.triu(1).abs().max() == 0  # no position sees a later one


def test_inputs_embeds_equal_input_ids():
    model = small_model()
    ids = tokens()
    embeds = model.get_input_embeddings()(ids)
    expected = model(ids, decoder_input_ids=ids).logits
    given = model(inputs_embeds=embeds, decoder_inputs_embeds=embeds).logits
    assert torch.equal(given, expected)
    with pytest.raises(ValueError, match="exactly one of input_ids and inputs_embeds"):
        model(ids, inputs_embeds=embeds, decoder_input_ids=ids)


@pytest.mark.parametrize("tying", ["all", "decoder", "none"])
def test_resizing_keeps_old_logits_and_learns_new_symbols(tying):
    model = small_model(weight_tying=tying)
    ids = tokens()
    with torch.no_grad():
        before = model(ids, decoder_input_ids=ids).logits
        model.resize_token_embeddings(65)
        after = model(ids, decoder_input_ids=ids).logits
    assert after.shape[-1] == model.config.vocab_size == model.config.target_vocab_size == 65
    torch.testing.assert_close(after[..., :60], before)
    model.train()(ids + 5, labels=ids + 5).loss.backward()


def test_resizing_two_vocabularies_at_once_is_refused():
    model = small_model(weight_tying="decoder", decoder_vocab_size=20)
    with pytest.raises(ValueError, match="vocab_size=60 and decoder_vocab_size=20 differ"):
        model.resize_token_embeddings(70)


def test_gradient_checkpointing_gives_the_same_gradients():
    ids = tokens()
    gradients = []
    for checkpointing in (False, True):
        model = small_model(dropout=0.0).train()
        if checkpointing:
            model.activation_checkpointing_enable()
        model(ids, labels=ids).loss.backward()
        gradients.append([p.grad for p in model.parameters()])
    for plain, checkpointed in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, checkpointed)


def test_the_base_model_class_is_the_inside_of_the_whole(tmp_path):
    whole = small_model()
    whole.save_pretrained(tmp_path)
    inside = VaswaniModel.from_pretrained(tmp_path).eval()
    ids = tokens()
    hidden = inside(ids, decoder_input_ids=ids).last_hidden_state
    assert torch.equal(whole.lm_head(hidden), whole(ids, decoder_input_ids=ids).logits)


def test_the_decoder_needs_the_encoders_output():
    with pytest.raises(ValueError, match="encoder_hidden_states"):
        small_model().model.decoder(input_ids=tokens())


# --- Section 5.4: the loss -----------------------------------------------------------------------------------------


def smoothed_by_definition(logits, labels, epsilon, kind):
    """Cross-entropy with the smoothed distribution written out, mean over the labels that count."""
    kept = labels != -100
    log_probs, gold = logits[kept].double().log_softmax(-1), labels[kept]
    size = logits.shape[-1]
    if kind == "uniform":
        wanted = torch.full_like(log_probs, epsilon / size).scatter_add_(
            1, gold[:, None], torch.full_like(log_probs[:, :1], 1 - epsilon)
        )
    else:
        wanted = torch.full_like(log_probs, epsilon / (size - 1)).scatter_(1, gold[:, None], 1 - epsilon)
    return -(wanted * log_probs).sum(-1).mean()


@pytest.mark.parametrize("kind", ["uniform", "exclusive"])
@pytest.mark.parametrize("bias", [False, True])
def test_loss_and_gradients_are_those_of_the_definition(kind, bias):
    model = small_model(dropout=0.0, label_smoothing=0.2, label_smoothing_type=kind, lm_head_bias=bias).train()
    if bias:
        torch.nn.init.normal_(model.lm_head.bias)
    ids, labels = tokens(), tokens(length=6, seed=5)
    labels[0, 2:] = -100
    output = model(ids, labels=labels, return_logits=True)
    expected = smoothed_by_definition(output.logits, labels, 0.2, kind)
    parameters = list(model.parameters())
    wanted = torch.autograd.grad(expected, parameters, retain_graph=True)
    for loss in (output.loss, model(ids, labels=labels).loss):  # from the logits, and without them
        assert loss.item() == pytest.approx(expected.item(), abs=1e-5)
        for got, want in zip(torch.autograd.grad(loss, parameters), wanted, strict=True):
            torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)


def test_uniform_smoothing_is_torchs_and_chunks_do_not_show():
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(600, 8, generator=generator, requires_grad=True)
    weight = torch.randn(9000, 8, generator=generator, requires_grad=True)
    labels = torch.randint(0, 9000, (600,), generator=generator)
    labels[::7] = -100
    ours = linear_cross_entropy(hidden, weight, None, labels, 0.1)
    theirs = F.cross_entropy(hidden @ weight.T, labels, reduction="sum", label_smoothing=0.1)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)
    wanted = torch.autograd.grad(theirs, (hidden, weight))
    for got, want in zip(torch.autograd.grad(ours, (hidden, weight)), wanted, strict=True):
        torch.testing.assert_close(got, want, atol=1e-3, rtol=1e-4)


def test_evaluation_loss_is_plain_cross_entropy():
    model = small_model(label_smoothing=0.3)
    ids = tokens()
    output = model(ids, labels=ids)
    assert output.loss.item() == pytest.approx(F.cross_entropy(output.logits.flatten(0, 1), ids.flatten()).item())


def test_num_items_in_batch_divides_the_sum():
    model = small_model()
    ids = tokens()
    mean, of_many = model(ids, labels=ids).loss, model(ids, labels=ids, num_items_in_batch=torch.tensor(84)).loss
    assert of_many.item() == pytest.approx(mean.item() * ids.numel() / 84)


def test_training_keeps_no_logits_and_labels_are_shifted():
    model = small_model().train()
    ids = tokens()
    assert model(ids, labels=ids).logits is None
    labels = torch.tensor([[5, 6, 2, -100]])
    assert model.prepare_decoder_input_ids_from_labels(labels).tolist() == [[1, 5, 6, 2]]


def test_training_without_a_start_symbol_is_refused():
    model = VaswaniForConditionalGeneration(small_config(decoder_start_token_id=None))
    with pytest.raises(ValueError, match="decoder_start_token_id"):
        model(tokens(), labels=tokens())
