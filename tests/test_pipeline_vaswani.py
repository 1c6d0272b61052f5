"""`pipeline("translation")` against `model.generate` of small MarianMT, T5, mBART and Vaswani models."""

import json
import subprocess
import sys

import datasets
import pytest
import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from torch.utils.data import IterableDataset
from transformers import (
    GenerationConfig,
    GPT2Config,
    GPT2LMHeadModel,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    pipeline,
)
from transformers.generation import MaxLengthCriteria, StoppingCriteriaList
from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES
from transformers.pipelines import PIPELINE_REGISTRY, REMOVED_TASKS, get_supported_tasks
from transformers.pipelines.pt_utils import KeyDataset

import vaswani_mt
from vaswani_mt.configuration_vaswani import VaswaniConfig
from vaswani_mt.generation_vaswani import SourceLengthCriteria
from vaswani_mt.modeling_vaswani import VaswaniForConditionalGeneration
from vaswani_mt.pipeline_vaswani import ReturnType, TranslationPipeline, batches_by_length
from vaswani_mt.registration import PIPELINE_CLASS, register_pipelines

PAD, EOS, UNK = 0, 1, 2
WORDS = ["translate", "English", "to", "German", ":", "we", "saw", "a", "dog", "run", "over", "the", "hill", "and"]
WORDS += ["into", "red", "house", "with", "no", "door", "at", "night"]
SIZE = 3 + len(WORDS)
TEXTS = [
    "we saw a dog",
    "the hill",
    "",
    "the red dog saw the red house with no door and we saw the night run over the hill into a red red door",
    "no",
    " \t\n\u00a0",
    "a dog with no house run over the hill at night",
    "night and night and night",
    "we run into the house",
]
LAYERS = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
NARROW = {**LAYERS, "d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
T5_TASKS = {
    "summarization": {"prefix": "night"},
    "translation_en_to_de": {"prefix": "translate English to German : ", "num_beams": 3, "max_length": 12},
    "translation_en_to_fr": {"prefix": "dog house : "},
}
NO_END = {"suppress_tokens": [PAD, EOS]}  # a model that never ends a sentence shows where it is stopped


def make_tokenizer(**kwargs):
    """Words are tokens, and a sentence ends with </s>."""
    vocabulary = {word: index for index, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", EOS)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special | kwargs)


# Weights larger than at the start of training, and seeds, for models whose translations differ from each other, some
# of which end by themselves and some not.


def make_marian(max_position_embeddings=128, vocab_size=SIZE):
    torch.manual_seed(2)
    ids = {"pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD, "forced_eos_token_id": None}
    positions = {"max_position_embeddings": max_position_embeddings}
    return MarianMTModel(MarianConfig(vocab_size=vocab_size, init_std=2.0, **NARROW, **ids, **positions)).eval()


def make_t5(task_specific_params=None):
    torch.manual_seed(3)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    ids = {"pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD}
    config = T5Config(vocab_size=SIZE, initializer_factor=4.0, **sizes, **ids)
    config.task_specific_params = task_specific_params
    return T5ForConditionalGeneration(config).eval()


def make_vaswani(position_embedding="learned"):
    torch.manual_seed(2)
    ids = {"pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD, "bos_token_id": PAD}
    positions = {"position_embedding": position_embedding, "max_position_embeddings": 96}
    model = VaswaniForConditionalGeneration(VaswaniConfig(vocab_size=SIZE, **NARROW, **ids, **positions))
    for parameter in model.parameters():
        parameter.data.mul_(5)
    return model.eval()


MODELS = {"marian": make_marian, "t5": make_t5, "vaswani": make_vaswani}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Layers this small take longer when shared out."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Saves a model and a tokenizer; gives the folder's name."""

    def save(model, tokenizer=None):
        path = tmp_path_factory.mktemp("model")
        model.save_pretrained(path)
        (make_tokenizer() if tokenizer is None else tokenizer).save_pretrained(path)
        return str(path)

    return save


@pytest.fixture(scope="module", params=["marian", "t5"])
def translator(request, folder):
    return pipeline("translation", model=folder(MODELS[request.param]()), device="cpu")


@pytest.fixture(scope="module")
def marian_path(folder):
    return folder(make_marian())


@pytest.fixture(scope="module")
def marian(marian_path):
    return pipeline("translation", model=marian_path, device="cpu")


def generated(translator, text, **kwargs):
    """Ids from `model.generate` itself, with the paper's length limit unless another one is given."""
    inputs = translator.tokenizer(text, return_tensors="pt", return_token_type_ids=False)
    if not {"max_length", "generation_config"} & kwargs.keys():
        kwargs = {"max_new_tokens": inputs["input_ids"].shape[1] + 50} | kwargs
    return translator.model.generate(**inputs, **kwargs)


def decoded(translator, ids):
    return [{"translation_text": text} for text in translator.tokenizer.batch_decode(ids, skip_special_tokens=True)]


def lengths(records):
    """Generated tokens of each result, without the start symbol."""
    return [len(record["translation_token_ids"]) - 1 for record in records]


def own_warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "vaswani_mt.pipeline_vaswani"]


# --- Forms of calls and results ------------------------------------------------------------------------------------


def test_string_gives_list_of_one_dict_with_what_generate_gives(translator):
    results = [translator(text) for text in TEXTS if text.strip()]
    expected = [decoded(translator, generated(translator, text)) for text in TEXTS if text.strip()]
    assert results == expected
    assert len({result[0]["translation_text"] for result in results}) == len(results), "all differ"


@pytest.mark.parametrize("options", [{"num_beams": 4}, {"num_beams": 3, "length_penalty": 0.6}, {"max_length": 7}])
def test_generate_arguments_are_passed_on(translator, options):
    for text in ("we saw a dog", "night and night and night"):
        assert translator(text, **options) == decoded(translator, generated(translator, text, **options))


def test_list_gives_flat_list_in_order(translator):
    results = translator(TEXTS)
    assert results == [translator(text)[0] for text in TEXTS]
    assert translator(TEXTS[:1]) == translator(TEXTS[0])
    assert translator([]) == []


def test_several_sequences_give_list_of_lists(translator):
    options = {"num_beams": 4, "num_return_sequences": 3}
    expected = decoded(translator, generated(translator, TEXTS[0], **options))
    assert translator(TEXTS[0], **options) == expected
    assert len(expected) == 3
    results = translator([TEXTS[0], "", TEXTS[1]], batch_size=2, **options)
    assert results[0] == expected
    assert results[1] == 3 * [{"translation_text": ""}]
    assert results[2] == decoded(translator, generated(translator, TEXTS[1], **options))


class Lines(IterableDataset):
    def __iter__(self):
        return iter(TEXTS)


@pytest.mark.parametrize(
    "inputs",
    [
        lambda: (text for text in TEXTS),
        lambda: iter(TEXTS),
        lambda: map(str, TEXTS),
        lambda: KeyDataset([{"en": text} for text in TEXTS], "en"),
        lambda: KeyDataset(datasets.Dataset.from_dict({"en": TEXTS}), "en"),
        Lines,
    ],
    ids=["generator", "iterator", "map", "KeyDataset", "KeyDataset of datasets", "IterableDataset"],
)
@pytest.mark.parametrize("batch_size", [1, 4])
def test_streams_give_an_iterator_of_lists(marian, inputs, batch_size):
    results = marian(inputs(), batch_size=batch_size)
    assert not isinstance(results, list)
    assert list(results) == [marian(text) for text in TEXTS]


def test_streams_are_read_as_results_are_asked_for(marian):
    read = []

    def lines():
        for text in TEXTS:
            read.append(text)
            yield text

    results = iter(marian(lines(), batch_size=2))
    assert next(results) == marian(TEXTS[0])
    assert len(read) < len(TEXTS)


@pytest.mark.parametrize("column", [tuple(TEXTS), datasets.Dataset.from_dict({"en": TEXTS})["en"]])
def test_other_sequences_are_like_lists(marian, column):
    assert marian(column) == marian(TEXTS)


def test_arguments_of_the_pipeline_are_defaults_of_the_call(marian, marian_path):
    options = {"num_beams": 4, "batch_size": 3, "return_tensors": True}
    translator = pipeline("translation", model=marian_path, device="cpu", **options)
    assert torch.equal(
        translator("the hill")[0]["translation_token_ids"],
        marian("the hill", num_beams=4, return_tensors=True)[0]["translation_token_ids"],
    )
    assert translator(TEXTS, num_beams=1, return_text=True, return_tensors=False) == marian(TEXTS)


def test_return_tensors_gives_the_ids_of_generate(translator):
    (result,) = translator("we saw a dog", return_tensors=True)
    assert list(result) == ["translation_token_ids"]
    assert torch.equal(result["translation_token_ids"], generated(translator, "we saw a dog")[0])
    blank = translator(["", "no"], batch_size=2, return_tensors=True)[0]["translation_token_ids"]
    assert blank.shape == (0,)
    assert blank.dtype == torch.int64


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({}, ["translation_text"]),
        ({"return_tensors": False}, ["translation_text"]),
        ({"return_text": True}, ["translation_text"]),
        ({"return_text": False}, ["translation_token_ids"]),
        ({"return_tensors": True, "return_text": True}, ["translation_text", "translation_token_ids"]),
        ({"return_type": ReturnType.TENSORS}, ["translation_token_ids"]),
        ({"return_type": 1}, ["translation_text"]),
    ],
)
def test_what_a_result_holds(marian, options, keys):
    assert [list(result) for result in marian(["we saw a dog", ""], **options)] == [keys, keys]


def test_result_without_anything_is_refused(marian):
    with pytest.raises(ValueError, match="nothing to return"):
        marian("no", return_tensors=False, return_text=False)


def test_scores_can_be_asked_for_without_changing_the_text(marian):
    options = {"return_dict_in_generate": True, "output_scores": True, "num_beams": 2}
    assert marian(TEXTS, batch_size=4, **options) == marian(TEXTS, num_beams=2)


def test_clean_up_of_spaces_is_off_unless_asked_for():
    tokenizer = make_tokenizer()
    tokenizer.add_tokens(["!"])
    translator = TranslationPipeline(make_marian(), tokenizer, device="cpu")
    outputs = {"output_ids": torch.tensor([[[PAD, 7, SIZE, EOS]]]), "output_lengths": torch.tensor([[4]])}
    word = WORDS[4]
    assert translator.postprocess(outputs) == [{"translation_text": f"{word} !"}]
    assert translator.postprocess(outputs, clean_up_tokenization_spaces=True) == [{"translation_text": f"{word}!"}]


def test_stop_sequence_ends_a_translation():
    """Stop strings need a tokenizer that can write any string, here one of bytes."""
    letters = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {token: index for index, token in enumerate(["<pad>", "</s>", "<unk>", *sorted(letters)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", EOS)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    ascii_only = {"suppress_tokens": [id for token, id in vocabulary.items() if not token.isalpha() or len(token) > 1]}
    ascii_only["suppress_tokens"] += [id for token, id in vocabulary.items() if not token.isascii()]
    translator = TranslationPipeline(make_marian(vocab_size=len(vocabulary)), tokenizer, device="cpu", **ascii_only)
    text = translator("we saw a dog")[0]["translation_text"]
    assert len(text) > 40
    stop = text[3:6]
    assert translator("we saw a dog", stop_sequence=stop) == [{"translation_text": text[: text.index(stop) + 3]}]
    batch = translator(["the hill", "we saw a dog"], batch_size=2, stop_sequence=[stop])
    assert batch[1] == {"translation_text": text[: text.index(stop) + 3]}


def test_sampling_works_in_batches(marian):
    torch.manual_seed(0)
    results = marian(TEXTS, batch_size=4, do_sample=True, num_return_sequences=2)
    assert [len(result) for result in results] == [2] * len(TEXTS)
    assert results[2] == results[5] == 2 * [{"translation_text": ""}]


# --- Batches -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    ("padding_side", "options"),
    [
        ("left", {}),
        ("right", {}),
        ("left", {"num_beams": 4}),
        ("right", {"num_beams": 3, "early_stopping": True, **NO_END}),
    ],
)
def test_translation_does_not_depend_on_the_batch(kind, padding_side, options):
    translator = TranslationPipeline(MODELS[kind](), make_tokenizer(padding_side=padding_side), device="cpu")
    options = options | {"return_tensors": True, "return_text": True}
    alone = [translator(text, **options)[0] for text in TEXTS]
    for batch_size in (1, 3, 7):
        results = translator(TEXTS, batch_size=batch_size, **options)
        assert [result["translation_text"] for result in results] == [result["translation_text"] for result in alone]
        for result, expected in zip(results, alone, strict=True):
            assert torch.equal(result["translation_token_ids"], expected["translation_token_ids"])


def test_blank_inputs_do_not_reach_the_model():
    model = make_marian()
    seen = []
    model.get_encoder().register_forward_pre_hook(
        lambda module, args, kwargs: seen.append(kwargs["input_ids"]), with_kwargs=True
    )
    translator = TranslationPipeline(model, make_tokenizer(), device="cpu")
    assert translator(["", "  ", "\n"], batch_size=2) == 3 * [{"translation_text": ""}]
    assert translator("") == [{"translation_text": ""}]
    assert seen == []
    results = translator(["", "the hill", " "], batch_size=3)
    assert [ids.tolist() for ids in seen] == [[[3 + WORDS.index("the"), 3 + WORDS.index("hill"), EOS]]]
    assert [result["translation_text"] == "" for result in results] == [True, False, True]


def test_text_of_no_tokens_is_blank():
    tokenizer = make_tokenizer()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("~")
    translator = TranslationPipeline(make_marian(), tokenizer, device="cpu")
    assert tokenizer("~")["input_ids"] == []
    assert translator("~") == [{"translation_text": ""}]


def test_batch_without_padding_symbol_is_refused():
    translator = TranslationPipeline(make_marian(), make_tokenizer(pad_token=None), device="cpu")
    ids = translator(["", "no"], return_tensors=True)[1]["translation_token_ids"]
    assert torch.equal(ids, generated(translator, "no")[0])
    with pytest.raises(ValueError, match="pad_token"):
        translator(TEXTS, batch_size=2)


def test_token_type_ids_are_left_out(folder):
    tokenizer = make_tokenizer(model_input_names=["input_ids", "token_type_ids", "attention_mask"])
    translator = pipeline("translation", model=folder(make_marian(), tokenizer), device="cpu")
    assert "token_type_ids" in translator.tokenizer("the hill")
    assert translator("the hill") == decoded(translator, generated(translator, "the hill"))


# --- Length of the translation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"num_beams": 3}])
@pytest.mark.parametrize("batch_size", [1, 4, 9])
def test_default_limit_is_source_length_and_fifty(translator, options, batch_size):
    """Section 6.1; the encoded source counts its end symbol: "we saw a dog </s>" may become 55 tokens."""
    results = translator(TEXTS, batch_size=batch_size, return_tensors=True, **options, **NO_END)
    expected = [len(text.split()) + 1 + 50 if text.strip() else -1 for text in TEXTS]
    assert expected[:3] == [55, 53, -1]
    assert lengths(results) == expected


def test_limits_of_the_call_count(translator):
    assert lengths(translator("we saw a dog", return_tensors=True, max_new_tokens=7, **NO_END)) == [7]
    assert lengths(translator("we saw a dog", return_tensors=True, max_length=7, **NO_END)) == [6]
    assert lengths(translator("we saw a dog", return_tensors=True, max_length=None, **NO_END)) == [55]
    config = GenerationConfig(max_new_tokens=5, decoder_start_token_id=PAD, pad_token_id=PAD, **NO_END)
    assert lengths(translator("we saw a dog", return_tensors=True, generation_config=config)) == [5]
    config = GenerationConfig(num_beams=2, **NO_END)
    assert lengths(translator("we saw a dog", return_tensors=True, generation_config=config)) == [55]
    assert config.max_new_tokens is None, "the caller's configuration must stay as it was"


def test_limits_of_the_pipeline_and_of_the_model_count(folder, marian_path):
    translator = pipeline("translation", model=marian_path, device="cpu", max_new_tokens=4)
    assert lengths(translator("no", return_tensors=True, **NO_END)) == [4]
    model = make_marian()
    model.generation_config.max_length = 9
    translator = pipeline("translation", model=folder(model), device="cpu")
    assert lengths(translator("no", return_tensors=True, **NO_END)) == [8]


def test_slope_and_constant_of_the_limit_can_be_chosen(translator):
    options = {"batch_size": 2, "return_tensors": True, **NO_END}
    assert lengths(translator(["no", "we saw a dog"], max_len_a=2, max_len_b=3, **options)) == [2 * 2 + 3, 2 * 5 + 3]
    model = make_vaswani()
    model.generation_config.max_len_b = 4
    translator = TranslationPipeline(model, make_tokenizer(), device="cpu")
    assert lengths(translator(["no", "we saw a dog"], **options)) == [2 + 4, 5 + 4]
    assert lengths(translator(["no", "we saw a dog"], max_len_b=1, **options)) == [2 + 1, 5 + 1]


def test_limit_stays_within_the_decoders_positions():
    translator = TranslationPipeline(make_marian(max_position_embeddings=32), make_tokenizer(), device="cpu")
    assert lengths(translator(["no", "we saw a dog"], batch_size=2, return_tensors=True, **NO_END)) == [31, 31]


def test_stopping_criteria_of_the_caller_still_count(marian):
    criteria = StoppingCriteriaList([MaxLengthCriteria(6)])
    assert lengths(marian("no", return_tensors=True, stopping_criteria=criteria, **NO_END)) == [5]
    assert len(criteria) == 1, "the caller's list must stay as it was"


def test_limit_that_may_be_too_small_is_warned_about(marian, caplog):
    marian("we saw a dog run", max_new_tokens=7)
    assert own_warnings(caplog) == []
    marian(["no", "we saw a dog run"], batch_size=2, max_new_tokens=6)
    assert "An input has 6 tokens and translations are limited to 6" in caplog.text


def test_source_length_criteria_stops_each_row_at_its_own_limit():
    criteria = SourceLengthCriteria(torch.tensor([3, 4]), max_len_a=1.5, max_len_b=2, prompt_length=2)
    rows = torch.zeros((6, 20), dtype=torch.long)  # three candidates of two sentences, limits 6 and 8
    assert criteria(rows[:, :7], None).tolist() == [False] * 6
    assert criteria(rows[:, :8], None).tolist() == [True] * 3 + [False] * 3
    assert criteria(rows[:, :10], None).tolist() == [True] * 6
    assert SourceLengthCriteria(torch.tensor([3])).limits.tolist() == [53]
    with pytest.raises(ValueError, match="5 rows are no multiple of the 2 sentences"):
        criteria(rows[:5], None)


# --- Over-long input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["marian", "vaswani"])
def test_input_beyond_the_positions_is_warned_about_and_fails_in_the_model(kind, caplog):
    make, size, error = {"marian": (make_marian, 128, IndexError), "vaswani": (make_vaswani, 96, ValueError)}[kind]
    translator = TranslationPipeline(make(), make_tokenizer(), device="cpu")
    text = " ".join(["dog"] * 200)
    with pytest.raises(error):
        translator(text)
    assert f"of 201 tokens is longer than the {size} that the model's position table allows for" in caplog.text
    caplog.clear()
    cut = " ".join(["dog"] * (size - 1))
    assert translator(text, truncation=True) == translator(cut)
    assert own_warnings(caplog) == []


@pytest.mark.parametrize("kind", ["t5", "vaswani"])
def test_input_beyond_the_tokenizers_length_is_warned_about_and_translated_whole(kind, caplog):
    model = make_t5() if kind == "t5" else make_vaswani("sinusoidal")
    translator = TranslationPipeline(model, make_tokenizer(model_max_length=8), device="cpu")
    longer = "the red dog saw the red house with no door"
    result = translator(["no", longer, longer])
    messages = own_warnings(caplog)
    assert len(messages) == 2
    assert "11 tokens is longer than the 8 that model_max_length of the tokenizer allows for" in messages[0]
    assert result[1:] == 2 * decoded(translator, generated(translator, longer))
    assert translator(longer, truncation=True) == translator("the red dog saw the red house")


def test_input_longer_than_a_sinusoid_table_is_no_reason_to_warn(caplog):
    translator = TranslationPipeline(make_vaswani("sinusoidal"), make_tokenizer(), device="cpu")
    text = " ".join(["dog saw"] * 60)
    assert translator(text) == decoded(translator, generated(translator, text))
    assert own_warnings(caplog) == []


# --- Languages -----------------------------------------------------------------------------------------------------


def test_language_pair_sets_prefix_and_settings_of_the_task(folder, caplog):
    path = folder(make_t5(T5_TASKS))
    translator = pipeline("translation_en_to_de", model=path, device="cpu")
    prefixed = "translate English to German : we saw a dog"
    expected = generated(translator, prefixed, num_beams=3, max_length=12)
    assert translator("we saw a dog") == decoded(translator, expected)
    expected = generated(translator, prefixed, num_beams=1, max_new_tokens=6)
    assert translator("we saw a dog", num_beams=1, max_new_tokens=6) == decoded(translator, expected)
    assert "Both `max_new_tokens`" not in caplog.text, "the task's max_length must give way"
    config = GenerationConfig(num_beams=2, max_length=8)
    expected = generated(translator, prefixed, generation_config=config)
    assert translator("we saw a dog", generation_config=config) == decoded(translator, expected)
    expected = generated(translator, "dog house : we saw a dog")
    assert translator("we saw a dog", tgt_lang="fr") == decoded(translator, expected)
    assert translator(["we saw a dog", "", "no"], batch_size=3)[1] == {"translation_text": ""}
    assert translator.model.generation_config.num_beams in (None, 1), "the model must stay as it was"


def test_plain_translation_takes_the_first_pair_of_the_configuration(folder):
    path = folder(make_t5(T5_TASKS))
    with pytest.warns(UserWarning, match="translation_en_to_de"):
        translator = pipeline("translation", model=path, device="cpu")
    assert translator.task == "translation_en_to_de"
    assert translator("no") == pipeline("translation_en_to_de", model=path, device="cpu")("no")


@pytest.mark.filterwarnings("error")
def test_plain_translation_takes_the_languages_it_is_given(folder):
    translator = pipeline("translation", model=folder(make_t5(T5_TASKS)), src_lang="en", tgt_lang="fr", device="cpu")
    assert translator("no") == decoded(translator, generated(translator, "dog house : no"))


def test_pair_without_settings_is_translated_plainly(folder):
    translator = pipeline("translation_cn_to_ar", model=folder(make_t5(T5_TASKS)), device="cpu")
    assert translator._preprocess_params == {"src_lang": "cn", "tgt_lang": "ar"}
    assert translator("no") == decoded(translator, generated(translator, "no"))


def test_prefix_of_the_configuration_is_added_but_not_to_blanks():
    model = make_marian()
    model.config.prefix = "dog house : "
    translator = TranslationPipeline(model, make_tokenizer(), device="cpu")
    assert translator("no") == decoded(translator, generated(translator, "dog house : no"))
    assert translator("") == [{"translation_text": ""}]


@pytest.fixture(scope="module")
def mbart(folder):
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = [*special, *[f"▁{word}" for word in WORDS], *FAIRSEQ_LANGUAGE_CODES, "<mask>"]
    scores = [(token, -1.0 if token.startswith("▁") else 0.0) for token in vocabulary]
    torch.manual_seed(1)
    ids = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": None}
    config = MBartConfig(vocab_size=len(vocabulary), init_std=0.6, max_position_embeddings=128, **NARROW, **ids)
    return folder(MBartForConditionalGeneration(config), MBartTokenizer(vocab=scores))


def test_multilingual_tokenizer_gets_its_languages(mbart):
    translator = pipeline("translation", model=mbart, src_lang="en_XX", tgt_lang="de_DE", device="cpu")
    tokenizer = translator.tokenizer
    others = {"src_lang": "fr_XX", "tgt_lang": "ro_RO"}
    for source, target, languages in [("en_XX", "de_DE", {}), ("fr_XX", "ro_RO", others)]:
        tokenizer.src_lang = source
        forced = {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(target)}
        expected = [generated(translator, text, **forced)[0] for text in ("no", "we saw a dog")]
        results = translator(["", "no", "we saw a dog"], batch_size=3, return_tensors=True, **languages)
        assert results[0]["translation_token_ids"].tolist() == []
        for result, ids in zip(results[1:], expected, strict=True):
            assert torch.equal(result["translation_token_ids"], ids)
            assert ids[1] == forced["forced_bos_token_id"]


def test_language_codes_with_underscores_can_be_named_by_the_task(mbart):
    translator = pipeline("translation_en_XX_to_de_DE", model=mbart, device="cpu")
    assert translator("no") == translator("no", src_lang="en_XX", tgt_lang="de_DE")


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ({}, "requires a `src_lang` and a `tgt_lang`"),
        ({"src_lang": "en_XX"}, "requires a `src_lang` and a `tgt_lang`"),
        ({"src_lang": "en_XX", "tgt_lang": "de"}, "'de' is not a language code of MBartTokenizer"),
        ({"src_lang": "en", "tgt_lang": "de_DE"}, "'en' is not a language code of MBartTokenizer"),
    ],
)
def test_missing_and_unknown_languages_are_refused(mbart, languages, message):
    translator = pipeline("translation", model=mbart, device="cpu")
    with pytest.raises(ValueError, match=message):
        translator("no", **languages)


def test_languages_of_m2m100_are_two_letter_codes(tmp_path):
    pieces = tmp_path / "sentencepiece"
    lines = iter([" ".join(WORDS), "we saw a dog run over the hill"] * 20)
    SentencePieceTrainer.train(sentence_iterator=lines, model_prefix=str(pieces), vocab_size=30, minloglevel=2)
    trained = SentencePieceProcessor(f"{pieces}.model")
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *[trained.id_to_piece(index) for index in range(3, 30)]]
    (tmp_path / "vocab.json").write_text(json.dumps({token: index for index, token in enumerate(tokens)}))
    tokenizer = M2M100Tokenizer(str(tmp_path / "vocab.json"), f"{pieces}.model")
    torch.manual_seed(1)
    config = M2M100Config(vocab_size=256, init_std=0.6, forced_eos_token_id=None, **NARROW)
    translator = TranslationPipeline(M2M100ForConditionalGeneration(config).eval(), tokenizer, device="cpu")
    results = translator(["no", "", "we saw"], batch_size=3, src_lang="en", tgt_lang="de", return_tensors=True)
    assert [result["translation_token_ids"][1:2].tolist() for result in results] == [
        [tokenizer.get_lang_id("de")],
        [],
        [tokenizer.get_lang_id("de")],
    ]
    with pytest.raises(ValueError, match="'german' is not a language code of M2M100Tokenizer"):
        translator("no", src_lang="en", tgt_lang="german")


# --- Bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (5, "not int"),
        (None, "not NoneType"),
        (b"no", "not bytes"),
        ({"text": "no"}, "not dict"),
        (["no", None], "element 1 of the list is of type NoneType"),
        (["no", "no", 3], "element 2 of the list is of type int"),
        ([["no"], ["no"]], "element 0 of the list is of type list"),
        ([{"en": "no"}], "KeyDataset"),
    ],
)
def test_input_that_is_no_text_is_refused(marian, inputs, message):
    with pytest.raises(ValueError, match=message):
        marian(inputs)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_stream_of_something_else_is_refused(marian, batch_size):
    results = iter(marian((text for text in ["no", "no", 7.0]), batch_size=batch_size))
    with pytest.raises(ValueError, match="of type float"):
        list(results)
    with pytest.raises(ValueError, match="KeyDataset"):
        list(marian(datasets.Dataset.from_dict({"en": ["no"]})))


def test_argument_unknown_to_generate_is_refused(marian):
    with pytest.raises(ValueError, match="beam_number"):
        marian("no", beam_number=3)


def test_model_or_tokenizer_that_cannot_translate_is_refused():
    decoder_only = GPT2LMHeadModel(GPT2Config(vocab_size=SIZE, n_embd=8, n_layer=1, n_head=1))
    with pytest.raises(ValueError, match="encoder-decoder model that generates text; GPT2LMHeadModel"):
        TranslationPipeline(decoder_only, make_tokenizer())
    with pytest.raises(ValueError, match="needs the tokenizer of MarianMTModel"):
        TranslationPipeline(make_marian())


# --- Registration --------------------------------------------------------------------------------------------------


def run_python(code, **kwargs):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, **kwargs)


def test_task_is_supported_and_other_removed_tasks_stay_removed(marian_path):
    assert "translation" in get_supported_tasks()
    assert not {"summarization", "text2text-generation"} & set(get_supported_tasks())
    for task in ("summarization", "text2text-generation"):
        with pytest.raises(KeyError, match="has been removed"):
            pipeline(task, model=marian_path)


@pytest.mark.parametrize("task", ["translation", "translation_cn_to_ar"])
def test_task_without_model_asks_for_one(task):
    with pytest.raises(ValueError, match=r"no default model: pass one|not provide any default models"):
        pipeline(task)


def test_pairs_with_a_default_model_have_that_of_transformers_4():
    for pair in [("en", "de"), ("en", "fr"), ("en", "ro")]:
        name, task, options = PIPELINE_REGISTRY.check_task("translation_{}_to_{}".format(*pair))
        assert (name, options) == ("translation", pair)
        assert task["default"][options]["model"][0] == "google-t5/t5-base"


@pytest.mark.parametrize("task", ["translation_en_de", "translation_", "translation_to_de"])
def test_malformed_pair_is_refused(task, marian_path):
    with pytest.raises(KeyError, match="translation_XX_to_YY"):
        pipeline(task, model=marian_path)


def test_unknown_task_is_refused_as_before(marian_path):
    with pytest.raises(KeyError, match="Unknown task translate"):
        pipeline("translate", model=marian_path)


def test_registering_again_changes_nothing():
    before = PIPELINE_REGISTRY.supported_tasks["translation"], PIPELINE_REGISTRY.check_task
    register_pipelines()
    assert (PIPELINE_REGISTRY.supported_tasks["translation"], PIPELINE_REGISTRY.check_task) == before
    assert PIPELINE_REGISTRY.supported_tasks["translation"]["impl"] == PIPELINE_CLASS
    assert "translation" not in REMOVED_TASKS


def test_task_registered_by_others_is_left_alone(monkeypatch):
    theirs = {"impl": "their.Pipeline", "pt": (), "type": "text"}
    monkeypatch.setitem(PIPELINE_REGISTRY.supported_tasks, "translation", theirs)
    monkeypatch.setitem(REMOVED_TASKS, "translation", "gone")
    register_pipelines()
    assert PIPELINE_REGISTRY.supported_tasks["translation"] is theirs
    assert "translation" in REMOVED_TASKS


def test_importing_the_package_is_light_and_brings_the_task_back(marian, marian_path):
    expected = marian("we saw a dog")
    translate = f"model={marian_path!r}, device='cpu')('we saw a dog'))"
    without = run_python(f"from transformers import pipeline; pipeline('translation', model={marian_path!r})")
    assert without.returncode != 0
    assert "The task translation has been removed" in without.stderr
    code = (
        "import sys, vaswani_mt; assert not {'torch', 'transformers'} & sys.modules.keys()\n"
        f"from transformers import pipeline; print(pipeline('translation', {translate}"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(expected)


# --- Saving --------------------------------------------------------------------------------------------------------


def test_saved_pipeline_of_a_transformers_model_carries_no_code(marian, tmp_path):
    marian.save_pretrained(tmp_path)
    assert list(tmp_path.glob("*.py")) == []
    assert not hasattr(MarianConfig.from_pretrained(tmp_path), "custom_pipelines")
    assert pipeline("translation", model=str(tmp_path), device="cpu")(TEXTS) == marian(TEXTS)


def test_saved_pipeline_of_a_custom_model_runs_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(VaswaniForConditionalGeneration, "_auto_class", "AutoModelForSeq2SeqLM")
    monkeypatch.setattr(VaswaniConfig, "_auto_class", "AutoConfig")
    translator = TranslationPipeline(make_vaswani(), make_tokenizer(), device="cpu")
    expected = translator(["", "we saw a dog"])
    path = str(tmp_path / "model")
    translator.save_pretrained(path)
    code = (
        "import sys; sys.modules['vaswani_mt'] = None\n"
        "from transformers import pipeline\n"
        f"translator = pipeline('translation', model={path!r}, trust_remote_code=True, device='cpu')\n"
        "print(translator(['', 'we saw a dog'], batch_size=2))"
    )
    result = run_python(code, env={"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1", "PATH": ""})
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(expected)


def test_package_names_what_it_registers():
    module, name = PIPELINE_CLASS.rsplit(".", 1)
    assert getattr(sys.modules[module], name) is TranslationPipeline
    assert vaswani_mt.__name__ == module.split(".")[0]


def test_batches_by_length_keep_the_budget_and_every_sentence():
    lengths = [5, 30, 2, 5, 9, 2]
    batches = list(batches_by_length(lengths, 12))
    assert batches == [[2, 5], [0, 3], [4], [1]]  # 2 x 2, 2 x 5, 9, and one longer than the budget
    assert list(batches_by_length([], 12)) == []
