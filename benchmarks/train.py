#!/usr/bin/env python
"""Training speed and memory beside HF's Seq2SeqTrainer + MarianMTModel, and fairseq: benchmarks/train.py EN DE

    benchmarks/train.py multi30k/train.en multi30k/train.de [--fairseq-python VENV/bin/python] [--steps 5]

All train the same sizes on the same corpus with the same vocabulary, label smoothing 0.1 and dropout, in batches of as
many tokens sorted by length: our Trainer and HF's get the very same batches and fused Adam, fairseq makes its own by
the same rule (--max-tokens). Every candidate runs in a process of its own, in float32 and in bfloat16 (HF's with both
of its attention implementations), and the better one counts. A rate is the median over the steps after the warm-up, in
source and target tokens (no padding) a second; memory is the peak resident size of the process.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WARM_UP = 2
SYMBOLS = 10_000  # of the vocabulary that encodes the text; the model's may be larger, as in the paper


@dataclass(frozen=True)
class Size:
    """A model and the batches it is trained with: `tokens` source and target tokens a step."""

    layers: int
    d_model: int
    d_ff: int
    heads: int
    dropout: float
    vocab_size: int
    tokens: int


SIZES = {
    "base": Size(6, 512, 2048, 8, 0.1, 37_000, 4096),
    "tiny": Size(4, 128, 256, 4, 0.3, SYMBOLS, 4096),
}
# What must be reached: our rate relative to the peer's, and our peak memory relative to HF's (base size).
BARS = {("hf", "base"): 2.0, ("hf", "tiny"): 1.6, ("fairseq", "base"): 1.3, ("fairseq", "tiny"): 1.3}
MEMORY_BAR = 0.6
CANDIDATES = {
    "ours": ["float32", "bfloat16"],
    "hf": ["float32 sdpa", "bfloat16 sdpa", "bfloat16 eager"],
    "fairseq": ["float32", "bfloat16"],
}


def prepare(files: list[Path], folder: Path) -> None:
    """Encode the corpus once for all: a data set for the Trainers, text of piece numbers for fairseq."""
    from vaswani_mt.data.encoding import encode
    from vaswani_mt.tasks.translation import TranslationTask
    from vaswani_mt.tokenization import train_tokenizer

    task = TranslationTask(train_files=[str(file) for file in files])
    corpus = task.load(["train"])["train"]
    tokenizer = train_tokenizer(task.texts(corpus), SYMBOLS)
    tokenizer.save_pretrained(folder / "tokenizer")
    encoded = encode(corpus, task, tokenizer)
    encoded.save_to_disk(folder / "encoded")
    for column, suffix in (("input_ids", "src"), ("labels", "tgt")):
        lines = (" ".join(f"p{piece}" for piece in ids[:-1]) for ids in encoded[column])  # fairseq adds the end itself
        (folder / f"train.{suffix}").write_text("".join(f"{line}\n" for line in lines))


def run_trainer(peer: str, size: Size, variant: str, folder: Path, steps: int) -> list[dict[str, float]]:
    """Seconds and tokens of every step of our Trainer or of HF's."""
    import datasets
    import torch
    from transformers import DataCollatorForSeq2Seq, MarianConfig, MarianMTModel, Seq2SeqTrainer, TrainerCallback
    from transformers import Seq2SeqTrainingArguments as HFArguments

    from vaswani_mt import VaswaniConfig, VaswaniForConditionalGeneration, VaswaniTrainer, VaswaniTrainingArguments
    from vaswani_mt.data.batching import TokenBatchLoader, TokenBatchSampler
    from vaswani_mt.tasks.translation import TranslationTask
    from vaswani_mt.tokenization import load_tokenizer

    encoded = datasets.load_from_disk(str(folder / "encoded"))
    tokenizer = load_tokenizer(folder / "tokenizer")
    bf16 = variant.startswith("bfloat16")
    common = {
        "output_dir": tempfile.mkdtemp(dir=folder),
        "max_steps": WARM_UP + steps,
        "bf16": bf16,
        "use_cpu": not torch.cuda.is_available(),
        "save_strategy": "no",
        "report_to": [],
        "disable_tqdm": True,
        "logging_steps": 1_000,
        "optim": "adamw_torch_fused",
        "seed": 1,
    }
    shape = {
        "vocab_size": size.vocab_size,
        "d_model": size.d_model,
        "encoder_layers": size.layers,
        "decoder_layers": size.layers,
        "encoder_attention_heads": size.heads,
        "decoder_attention_heads": size.heads,
        "encoder_ffn_dim": size.d_ff,
        "decoder_ffn_dim": size.d_ff,
        "dropout": size.dropout,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    measured: list[dict[str, float]] = []

    class Clock(TrainerCallback):
        """Notes when a step ended, and how many tokens the batch counted last had."""

        tokens = 0

        def on_train_begin(self, args, state, control, **kwargs):
            self.start = time.perf_counter()

        def on_step_end(self, args, state, control, **kwargs):
            now = time.perf_counter()
            measured.append({"seconds": now - self.start, "tokens": Clock.tokens})
            self.start, Clock.tokens = now, 0

    def counted(trainer_class):
        class Counting(trainer_class):
            def training_step(self, model, inputs, num_items_in_batch=None):
                Clock.tokens += int(inputs["attention_mask"].sum()) + int((inputs["labels"] != -100).sum())
                return super().training_step(model, inputs, num_items_in_batch)

        return Counting

    torch.manual_seed(1)
    if peer == "ours":
        args = VaswaniTrainingArguments(
            **common, tokens_per_batch=size.tokens, max_tokens_per_device=size.tokens, data_seed=1
        )
        model = VaswaniForConditionalGeneration(VaswaniConfig(**shape))
        trainer = counted(VaswaniTrainer)(
            model=model,
            args=args,
            task=TranslationTask(dataset_name="grammar"),
            train_dataset=encoded,
            processing_class=tokenizer,
            callbacks=[Clock()],
        )
    else:

        class SameBatches(Seq2SeqTrainer):
            """HF's Trainer on our batches, padded by HF's collator."""

            def get_train_dataloader(self):
                sampler = TokenBatchSampler(
                    encoded["source_length"], encoded["target_length"], size.tokens, seed=self.args.seed
                )
                pairs = encoded.select_columns(["input_ids", "labels"])
                return TokenBatchLoader(pairs, batch_sampler=sampler, collate_fn=self.data_collator)

        config = MarianConfig(
            **shape,
            scale_embedding=True,
            activation_function="relu",
            decoder_start_token_id=tokenizer.bos_token_id,
            max_position_embeddings=1024,
            forced_eos_token_id=None,
        )
        model = MarianMTModel._from_config(config, attn_implementation=variant.split()[1])
        trainer = counted(SameBatches)(
            model=model,
            args=HFArguments(
                **common, label_smoothing_factor=0.1, adam_beta2=0.98, max_grad_norm=0.0, remove_unused_columns=False
            ),
            train_dataset=encoded,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
            callbacks=[Clock()],
        )
    trainer.train()
    return measured


def run_fairseq(size: Size, variant: str, folder: Path, steps: int, python: str) -> list[dict[str, float]]:
    """Seconds and tokens of every step of fairseq-train; raises CalledProcessError where it does not run."""
    data = folder / f"fairseq-{size.vocab_size}"
    if not data.exists():
        # fairseq's dictionary has four special symbols of its own.
        lines = "".join(f"p{piece} 1\n" for piece in range(size.vocab_size - 4))
        (folder / "dict.txt").write_text(lines)
        subprocess.run(
            [
                *(python, "-m", "fairseq_cli.preprocess", "--source-lang", "src", "--target-lang", "tgt"),
                *("--trainpref", folder / "train", "--destdir", data, "--joined-dictionary"),
                *("--srcdict", folder / "dict.txt"),
            ],
            check=True,
            capture_output=True,
        )
    shape = []
    for side in ("encoder", "decoder"):
        shape += [f"--{side}-layers", size.layers, f"--{side}-embed-dim", size.d_model]
        shape += [f"--{side}-ffn-embed-dim", size.d_ff, f"--{side}-attention-heads", size.heads]
    command = [
        *(python, Path(__file__).with_name("fairseq_steps.py"), data, "--arch", "transformer", *shape),
        *("--share-all-embeddings", "--dropout", size.dropout, "--max-tokens", size.tokens),
        *("--criterion", "label_smoothed_cross_entropy", "--label-smoothing", 0.1, "--clip-norm", 0),
        *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--lr", 5e-4, "--lr-scheduler", "inverse_sqrt"),
        *("--warmup-updates", 4000, "--max-update", WARM_UP + steps, "--disable-validation", "--no-save"),
        *("--required-batch-size-multiple", 1, "--num-workers", 0, "--cpu", "--log-format", "none"),
        *("--save-dir", folder / "fairseq-checkpoints"),
        *(["--bf16"] if variant == "bfloat16" else []),
    ]
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"seconds"')]


def measure(
    peer: str, name: str, variant: str, folder: Path, arguments: argparse.Namespace
) -> dict[str, float] | None:
    """Tokens a second and peak MiB of one candidate, from a process of its own; None where it does not run."""
    command = [sys.executable, __file__, "--candidate", peer, name, variant, str(folder)]
    command += ["--steps", str(arguments.steps), "--fairseq-python", arguments.fairseq_python or ""]
    threads = str(arguments.threads)
    environment = os.environ | {"OMP_NUM_THREADS": threads, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^RESULT (.*)$", process.stdout, re.MULTILINE)
    if not found:
        reason = (process.stderr.strip().splitlines() or ["no output"])[-1]
        print(f"{name:5} {peer:8} {variant:15} does not run: {reason[:100]}", flush=True)
        return None
    result = json.loads(found[0])
    rate, peak = result["tokens_per_second"], result["peak_mib"]
    print(f"{name:5} {peer:8} {variant:15} {rate:9.0f} tokens/s {peak:9.0f} MiB", flush=True)
    return result


def run_candidate(peer: str, name: str, variant: str, folder: str, steps: int, python: str) -> None:
    """What a measuring process does; prints RESULT and JSON."""
    if peer == "fairseq":
        steps_measured = run_fairseq(SIZES[name], variant, Path(folder), steps, python)
    else:
        steps_measured = run_trainer(peer, SIZES[name], variant, Path(folder), steps)
    who = resource.RUSAGE_CHILDREN if peer == "fairseq" else resource.RUSAGE_SELF
    rates = [step["tokens"] / step["seconds"] for step in steps_measured[WARM_UP:]]
    result = {"tokens_per_second": statistics.median(rates), "peak_mib": resource.getrusage(who).ru_maxrss / 1024}
    print(f"RESULT {json.dumps(result)}")


def compare(files: list[Path], arguments: argparse.Namespace) -> bool:
    """Measure everything, print the ratios beside their bars; whether all were reached."""
    reached = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(files, Path(folder))
        for name in arguments.sizes:
            best: dict[str, dict[str, float]] = {}
            for peer, variants in CANDIDATES.items():
                if peer == "fairseq" and not arguments.fairseq_python:
                    continue
                results = [measure(peer, name, variant, Path(folder), arguments) for variant in variants]
                if ran := [result for result in results if result]:
                    best[peer] = max(ran, key=lambda result: result["tokens_per_second"])
            for peer in best.keys() - {"ours"}:
                ratio = best["ours"]["tokens_per_second"] / best[peer]["tokens_per_second"]
                bar = BARS[peer, name]
                reached.append(ratio >= bar)
                verdict = "reached" if ratio >= bar else "MISSED"
                print(f"==> {name}: {ratio:.2f} times as fast as {peer} (bar {bar}): {verdict}", flush=True)
            if name == "base" and "hf" in best:
                share = best["ours"]["peak_mib"] / best["hf"]["peak_mib"]
                reached.append(share <= MEMORY_BAR)
                verdict = "reached" if reached[-1] else "MISSED"
                print(f"==> base: {share:.0%} of HF's peak memory (bar {MEMORY_BAR:.0%}): {verdict}", flush=True)
    return all(reached)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="parallel text, source (.en) and target (.de)")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--steps", type=int, default=5, help=f"steps measured, after {WARM_UP} of warm-up")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="OMP_NUM_THREADS of all candidates")
    parser.add_argument(
        "--fairseq-python", help="interpreter of an environment with fairseq-fixed; default: no fairseq"
    )
    parser.add_argument("--candidate", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.candidate:
        run_candidate(*arguments.candidate, arguments.steps, arguments.fairseq_python)
        return 0
    if len(arguments.files) != 2:
        parser.error("give the two files of a parallel corpus")
    return 0 if compare(arguments.files, arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
