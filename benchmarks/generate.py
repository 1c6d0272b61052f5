"""Speed of decoding beside transformers' MarianMT and CTranslate2, all with the same weights, in one run.

    python benchmarks/generate.py                          # base size, random weights, forced length
    python benchmarks/generate.py --model DIR --source test.en --reference test.de --bleu_tokenize none

prints sentences a second, the ratios, the latency of one sentence, peak memory of a wide beam, and what part of a step
matrix products alone would take.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from peers import as_ctranslate2, as_marian
from transformers import AutoTokenizer

from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration
from vaswani_mt.metrics import load
from vaswani_mt.translator import Translator

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The fastest of some runs, after one to warm up: what other programs take away is not what is measured."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def base_model() -> VaswaniForConditionalGeneration:
    """The paper's base size as MarianMT can express it (biases, LayerNorm's epsilon), with random weights."""
    torch.manual_seed(0)
    return VaswaniForConditionalGeneration(VaswaniConfig(attention_bias=True, layer_norm_eps=1e-5)).eval()


def show(name: str, work: int, took: float, unit: str = "sentences/s") -> float:
    rate = work / took
    print(f"  {name:28s} {rate:9.1f} {unit}", flush=True)
    return rate


def verdict(text: str, ratio: float, bar: float) -> None:
    print(f"  {text}: {ratio:.2f}x (bar {bar}x) {'reached' if ratio >= bar else 'MISSED'}", flush=True)


def measure_base(batch: int, length: int, new: int, beams: int, repeats: int) -> None:
    """Random weights, `new` steps for every sentence: the work is the same for all."""
    model = base_model()
    marian = as_marian(model)
    ids = torch.randint(4, model.config.vocab_size, (batch, length), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    settings = {"num_beams": beams, "max_new_tokens": new, "min_new_tokens": new, "do_sample": False}
    print(f"base size: {batch} sentences of {length} tokens, {new} forced steps, beam {beams}")
    ours, theirs = {}, {}
    with torch.inference_mode():
        for name, dtype in DTYPES.items():
            model, marian = model.to(dtype), marian.to(dtype)
            for who, which, rates in (("ours", model, ours), ("MarianMT", marian, theirs)):
                took = seconds(lambda which=which: which.generate(**inputs, **settings), repeats)
                rates[name] = show(f"{who} {name}", batch, took)
        print("latency of one sentence")
        one = {name: tensor[:1] for name, tensor in inputs.items()}
        single: dict[str, dict[str, float]] = {"ours": {}, "MarianMT": {}}
        for name, dtype in DTYPES.items():
            model, marian = model.to(dtype), marian.to(dtype)
            for who, which in (("ours", model), ("MarianMT", marian)):
                took = seconds(lambda which=which: which.generate(**one, **settings), repeats)
                single[who][name] = show(f"{who} {name}", 1, took)
        show_floor(model.to(torch.bfloat16), batch * beams, ours["bfloat16"] / batch * new)
    verdict("against MarianMT, each at its best dtype", max(ours.values()) / max(theirs.values()), 2.5)
    verdict("one sentence", max(single["ours"].values()) / max(single["MarianMT"].values()), 1.3)
    symbols = [f"t{i}" for i in range(model.config.vocab_size)]
    sources = [[symbols[i] for i in row] for row in ids.tolist()]
    best = measure_ctranslate2(model.float(), symbols, sources, beams, repeats, new=new)
    if best:
        verdict("against CTranslate2 at its best type", max(ours.values()) / max(best.values()), 1.5)


def show_floor(model: VaswaniForConditionalGeneration, rows: int, steps_per_second: float) -> None:
    """How long the matrix products of one step take by themselves."""
    linear = [m for m in model.model.decoder.modules() if isinstance(m, torch.nn.Linear)]
    # Keys and values of the source are not computed at every step.
    once = {
        id(p) for layer in model.model.decoder.layers for p in (layer.encoder_attn.k_proj, layer.encoder_attn.v_proj)
    }
    weights = [m.weight for m in linear if id(m) not in once] + [model.lm_head.weight]

    def products() -> None:
        for weight in weights:
            torch.mm(inputs[weight.shape[1]], weight.t())

    inputs = {width: torch.randn(rows, width, dtype=torch.bfloat16) for width in {w.shape[1] for w in weights}}
    floor = seconds(products, 10)
    gflop = 2 * rows * sum(weight.numel() for weight in weights) / 1e9
    print(f"a step of {rows} rows takes {1e3 / steps_per_second:.1f} ms; its matrix products alone, as plain calls, "
          f"{1e3 * floor:.1f} ms ({gflop / floor:.0f} GFLOP/s)", flush=True)  # fmt: skip


def measure_ctranslate2(
    model, symbols: list[str], sources: list[list[str]], beams: int, repeats: int, new: int | None = None
) -> dict[str, float]:
    """Sentences a second by compute type; {} where CTranslate2 is not installed."""
    try:
        import ctranslate2
    except ImportError:
        print("  CTranslate2 is not installed (pip install ctranslate2): left out")
        return {}
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        as_ctranslate2(model, Path(folder) / "model", symbols)
        for kind in ("float32", "bfloat16", "int8"):
            try:
                translator = ctranslate2.Translator(
                    str(Path(folder) / "model"),
                    compute_type=kind,
                    inter_threads=1,
                    intra_threads=torch.get_num_threads(),
                )
            except ValueError as error:
                print(f"  CTranslate2 {kind}: {error}")
                continue
            limits = {"max_decoding_length": new, "min_decoding_length": new} if new else {}

            def work(translator=translator, limits=limits):
                return translator.translate_batch(
                    sources, beam_size=beams, length_penalty=1, max_batch_size=2048, batch_type="tokens", **limits
                )

            rates[kind] = show(f"CTranslate2 {kind}", len(sources), seconds(work, repeats))
    return rates


def measure_corpus(folder: Path, source: Path, reference: Path, bleu_tokenize: str, repeats: int) -> None:
    """A trained model on its test set, each program with the same batches of similar length."""
    sentences = source.read_text(encoding="utf-8").splitlines()
    references = reference.read_text(encoding="utf-8").splitlines()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = VaswaniForConditionalGeneration.from_pretrained(folder).eval()
    marian = as_marian(model)
    beams = model.generation_config.num_beams
    settings = {"num_beams": beams, "length_penalty": 1.0, "early_stopping": False, "max_len_a": 1, "max_len_b": 50}
    own = settings | {"length_penalty_type": "length"}
    bleu = load("bleu")
    print(f"{folder.name}: {len(sentences)} sentences, beam {beams}, transformers' penalty and stopping for both")
    texts, rates = {}, {}
    for name, dtype in DTYPES.items():
        for who, which, more in (("ours", model.to(dtype), own), ("MarianMT", marian.to(dtype), settings)):
            translator = Translator(which, tokenizer, tokens_per_batch=4096)

            def work(translator=translator, key=(who, name), more=more):
                texts[key] = list(translator.translate(sentences, **more))

            took = seconds(work, repeats)
            rates[who, name] = show(f"{who} {name}", len(sentences), took)
            score = bleu.compute(predictions=texts[who, name], references=references, tokenize=bleu_tokenize)
            print(f"    BLEU {score['score']:.2f}")
    equal = sum(a == b for a, b in zip(texts["ours", "float32"], texts["MarianMT", "float32"], strict=True))
    print(f"  the same text as MarianMT in float32: {equal} of {len(sentences)} sentences")
    for number, (mine, theirs) in enumerate(zip(texts["ours", "float32"], texts["MarianMT", "float32"], strict=True)):
        if mine != theirs:
            print(f"    line {number + 1}: ours {mine!r}, MarianMT {theirs!r}")
    best = {who: max(rates[who, name] for name in DTYPES) for who in ("ours", "MarianMT")}
    verdict("against MarianMT, each at its best dtype", best["ours"] / best["MarianMT"], 3.0)
    check_batches(Translator(model.float(), tokenizer), sentences)
    symbols = tokenizer.convert_ids_to_tokens(range(model.config.vocab_size))
    ids = tokenizer(sentences)["input_ids"]
    rates_ct = measure_ctranslate2(model, symbols, [[symbols[i] for i in row] for row in ids], beams, repeats)
    if rates_ct:
        print(f"  against CTranslate2 at its best type: {best['ours'] / max(rates_ct.values()):.2f}x")


def check_batches(translator: Translator, sentences: list[str]) -> None:
    """The model's own settings in float32: the same text and scores whatever the batch and the order."""
    found = {}
    for size, order in ((1, 1), (7, 1), (32, -1)):
        records = translator.pipeline(sentences[::order], batch_size=size, return_score=True)[::order]
        found[size] = [(record["translation_text"], record["translation_score"]) for record in records]
    for size in (7, 32):
        texts = sum(a[0] == b[0] for a, b in zip(found[1], found[size], strict=True))
        apart = max(abs(a[1] - b[1]) for a, b in zip(found[1], found[size], strict=True))
        print(
            f"  batches of {size} beside batches of 1: {texts} of {len(sentences)} texts the same, "
            f"scores within {apart:.1e}"
        )


def peak_memory(who: str, beams: int, batch: int, length: int, new: int) -> None:
    """Print by how much this process' memory grows at most, in MiB, while it generates (Linux)."""
    model: Any = base_model()
    if who == "MarianMT":
        model = as_marian(model)
    ids = torch.randint(4, 37000, (batch, length))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _memory("VmRSS")
    with torch.inference_mode():
        model.generate(input_ids=ids, num_beams=beams, max_new_tokens=new, min_new_tokens=new, do_sample=False)
    print((_memory("VmHWM") - before) / 1024)


def _memory(field: str) -> int:
    """A figure of /proc/self/status, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def measure_memory(beams: int, batch: int, length: int, new: int) -> None:
    print(f"peak memory beyond the weights: beam {beams}, {batch} sentences of {length} tokens, {new} steps, float32")
    grown = {}
    for who in ("ours", "MarianMT"):
        command = [sys.executable, __file__, "--peak_memory", who]
        command += [str(number) for number in (beams, batch, length, new)]
        grown[who] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
        print(f"  {who:28s} {grown[who]:9.0f} MiB", flush=True)
    share = grown["ours"] / grown["MarianMT"]
    print(f"  ours is {share:.0%} of MarianMT's (bar 50%) {'reached' if share <= 0.5 else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="folder of a trained model; without it, base size")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--bleu_tokenize", default="13a")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory_steps", type=int, default=24)
    parser.add_argument("--peak_memory", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_memory:
        who, *numbers = arguments.peak_memory
        peak_memory(who, *map(int, numbers))
    elif arguments.model:
        if not (arguments.source and arguments.reference):
            parser.error("--model needs --source and --reference, the two sides of its test set")
        measure_corpus(
            arguments.model, arguments.source, arguments.reference, arguments.bleu_tokenize, arguments.repeats
        )
    else:
        measure_base(32, 28, 32, 4, arguments.repeats)
        measure_memory(21, 16, 300, arguments.memory_steps)


if __name__ == "__main__":
    main()
