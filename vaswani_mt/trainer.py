"""A thin Seq2SeqTrainer: token-bucketed batches, the paper's optimiser and schedule, exact evaluation."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate.utils import broadcast_object_list, gather_object
from datasets import Dataset
from safetensors import SafetensorError
from torch.optim.lr_scheduler import LambdaLR
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Seq2SeqTrainer, Seq2SeqTrainingArguments
from transformers.integrations import is_deepspeed_zero3_enabled
from transformers.integrations.fsdp import is_fsdp_managed_module
from transformers.trainer_utils import EvalLoopOutput, rotate_checkpoints
from transformers.utils import logging

from . import checkpoints
from .cpu import bf16_speedup, keep_freed_memory
from .data.batching import IGNORED, PairCollator, TokenBatchLoader, TokenBatchSampler, padding_share
from .data.streaming import PairStream, StreamLoader
from .faults import FaultGuard
from .tasks import Task
from .throughput import Throughput, work_of

logger = logging.get_logger(__name__)

STREAM_STATE = "stream_state.json"


@dataclass
class VaswaniTrainingArguments(Seq2SeqTrainingArguments):
    """`Seq2SeqTrainingArguments` with the paper's settings as defaults (section 5), and batches counted in tokens.

    Raises:
        ValueError: a budget or a number of checkpoints below 1, or another setting that is none.
    """

    learning_rate: float | None = field(  # type: ignore[assignment]
        default=None,
        metadata={"help": "Peak learning rate. Default: the paper's d_model^-0.5 * warmup_steps^-0.5."},
    )
    lr_scheduler_type: str = field(
        default="inverse_sqrt", metadata={"help": "Linear warm-up, then step^-0.5 (section 5.3); or any of Trainer's."}
    )
    warmup_steps: float = field(default=4000, metadata={"help": "Steps of linear warm-up."})
    optim: str = field(default="adamw_torch_fused", metadata={"help": "Adam (no weight decay is set)."})
    adam_beta2: float = field(default=0.98, metadata={"help": "Adam's beta2 (section 5.3)."})
    adam_epsilon: float = field(default=1e-9, metadata={"help": "Adam's epsilon (section 5.3)."})
    max_grad_norm: float = field(default=0.0, metadata={"help": "Gradient clipping; 0, as in the paper: none."})
    tokens_per_batch: int = field(
        default=25000,
        metadata={"help": "Source tokens, and target tokens, of one optimisation step over all processes."},
    )
    max_tokens_per_device: int = field(
        default=3125,
        metadata={
            "help": "Most source tokens, and target tokens, a device takes at once. A step's batch consists of "
            "tokens_per_batch / max_tokens_per_device parts, each of pairs of similar length (the paper: 8, one on "
            "each GPU); gradient_accumulation_steps follows from it. Raise it on large GPUs."
        },
    )
    eval_tokens_per_batch: int = field(
        default=8192, metadata={"help": "Source (or target) tokens of one evaluation batch of one device."}
    )
    average_checkpoints: int = field(
        default=5, metadata={"help": "The final model is the mean of this many last checkpoints (section 6.1)."}
    )
    guided_alignment: float = field(
        default=0.0,
        metadata={
            "help": "Weight of a loss on where the decoder's attention looks, for tasks that know it (parsing); 0, as "
            "in the paper: none."
        },
    )
    early_stopping_patience: int | None = field(
        default=None,
        metadata={"help": "Stop after this many evaluations without a better metric_for_best_model."},
    )
    resume: bool = field(
        default=False, metadata={"help": "Go on from the last checkpoint in output_dir (from the start if none)."}
    )
    on_nonfinite: str = field(
        default="stop",
        metadata={"help": "What a loss or gradient of NaN or infinity does: stop the run, or skip that update."},
    )
    predict_with_generate: bool = field(default=True, metadata={"help": "Evaluate by translating."})
    remove_unused_columns: bool = field(default=False, metadata={"help": "Kept off: references are a column."})
    # HfArgumentParser takes the second member of a union for the type of the command line's values.
    report_to: None | str | list[str] = field(  # noqa: RUF036
        default="tensorboard", metadata={"help": "Where to log."}
    )

    def __post_init__(self):
        for name in ("tokens_per_batch", "max_tokens_per_device", "eval_tokens_per_batch", "average_checkpoints"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(f"{name}={value} must be at least 1.")
        if self.on_nonfinite not in ("stop", "skip"):
            raise ValueError(f"on_nonfinite={self.on_nonfinite!r} must be 'stop' or 'skip'.")
        # transformers asks for this by hand before it takes bf16 on a machine without an accelerator.
        self.use_cpu = self.use_cpu or not torch.accelerator.is_available()
        super().__post_init__()
        if self.gradient_accumulation_steps != 1:
            raise ValueError(
                f"gradient_accumulation_steps={self.gradient_accumulation_steps} is not set by hand: it follows from "
                "tokens_per_batch, max_tokens_per_device and the number of processes."
            )
        self.gradient_accumulation_steps = math.ceil(self.micro_batches / self.world_size)

    @property
    def micro_batches(self) -> int:
        """Parts of a step's batch, whatever the number of processes."""
        return math.ceil(self.tokens_per_batch / self.max_tokens_per_device)


def paper_learning_rate(d_model: int, warmup_steps: float) -> float:
    """Peak of d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (section 5.3), reached at warmup_steps."""
    return d_model**-0.5 * warmup_steps**-0.5


def inverse_sqrt_factor(step: int, warmup_steps: float) -> float:
    """Learning rate of optimisation step `step` (the first is 1) relative to the peak (section 5.3)."""
    return min(step / warmup_steps, math.sqrt(warmup_steps / step)) if warmup_steps else step**-0.5


def alignment_loss(cross_attentions: Sequence[torch.Tensor], alignment: torch.Tensor) -> torch.Tensor:
    """Guided alignment: cross-entropy of one head's attention to where the next target symbol comes from.

    Args:
        cross_attentions: of some decoder layers, [B, h, T, S] each; the first head of every one is guided.
        alignment: [B, T] int64, the source position for each target position, -100 where there is none.

    Returns:
        scalar, summed over target positions and averaged over layers.
    """
    known = alignment != IGNORED
    source = alignment.clamp(min=0).unsqueeze(-1)
    total = torch.zeros((), device=alignment.device)
    for weights in cross_attentions:
        chosen = weights[:, 0].float().gather(-1, source).squeeze(-1)
        total = total - chosen[known].clamp(min=1e-9).log().sum()
    return total / len(cross_attentions)


def _prepare_bf16_on_cpu(model: PreTrainedModel, args: VaswaniTrainingArguments) -> None:
    """Mixed precision where it pays, float32 where this CPU's bfloat16 products are the slower ones."""
    speedup = bf16_speedup()
    if args.world_size > 1:  # every process does the same
        (speedup,) = broadcast_object_list([speedup])
    if speedup < 1:
        logger.warning_once(
            f"Training in float32 although bf16 was asked for: this CPU multiplies bfloat16 matrices at {speedup:.1f} "
            "times the speed of float32 ones."
        )
        args.bf16, args.mixed_precision = False, "no"
    else:
        # torch 2.13's fused attention takes 8 times as long backwards in bf16 on CPU as plain products do.
        model.set_attn_implementation("eager")


class VaswaniTrainer(Seq2SeqTrainer):
    """Seq2SeqTrainer whose batches are counted in tokens and whose evaluation scores each example exactly once.

    Args (beyond those of `Seq2SeqTrainer`):
        task: knows how to turn generated ids into text and how to score it.

    Data sets are encoded by `vaswani_mt.data.encoding.encode`: columns input_ids, labels, source_length,
    target_length and, for evaluation, the task's references.
    """

    # Trainer leaves these open; here they are always set.
    args: VaswaniTrainingArguments  # type: ignore[assignment]
    model: PreTrainedModel  # type: ignore[assignment]
    model_wrapped: Any
    data_collator: PairCollator  # type: ignore[assignment]
    train_dataset: Any
    eval_dataset: Any
    processing_class: PreTrainedTokenizerBase  # type: ignore[assignment]

    def __init__(self, model: PreTrainedModel, args: VaswaniTrainingArguments, *, task: Task, **kwargs):
        if args.learning_rate is None:
            args.learning_rate = paper_learning_rate(model.config.d_model, args.warmup_steps)
        if args.device.type == "cpu":
            keep_freed_memory()
            if args.mixed_precision == "bf16":  # from the arguments or from `accelerate launch --mixed_precision`
                _prepare_bf16_on_cpu(model, args)
        kwargs.setdefault("data_collator", PairCollator(model.config.pad_token_id))
        if args.guided_alignment:
            model.set_attn_implementation("eager")  # the others do not tell their weights
        super().__init__(model=model, args=args, **kwargs)
        self.task = task
        if args.on_nonfinite == "skip" and self.is_deepspeed_enabled:
            raise ValueError(
                "on_nonfinite='skip' is not to be had with DeepSpeed, which updates by itself: use 'stop'."
            )
        self._train_loader: TokenBatchLoader | StreamLoader
        self.guard = FaultGuard(args.on_nonfinite)
        self.add_callback(self.guard)
        dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16}
        self.throughput = Throughput(args.device, dtypes.get(self.accelerator.mixed_precision, model.dtype))
        self.add_callback(self.throughput)
        self._staging: str | None = None  # where a checkpoint is being written
        self._saved: str | None = None  # the checkpoint saved last

    def create_scheduler(self, num_training_steps: int, optimizer=None):
        """The paper's schedule for "inverse_sqrt" (step 1 gets the rate of step 1, not 0), else Trainer's."""
        if self.lr_scheduler is None and self.args.lr_scheduler_type == "inverse_sqrt":
            warmup = self.args.get_warmup_steps(num_training_steps)
            self.lr_scheduler = LambdaLR(
                optimizer if optimizer is not None else self.optimizer,  # type: ignore[arg-type]
                lambda done: inverse_sqrt_factor(done + 1, warmup),
            )
            self._created_lr_scheduler = True
        return super().create_scheduler(num_training_steps, optimizer)

    # --- Faults ------------------------------------------------------------------------------------------------

    def training_step(self, model, inputs, num_items_in_batch=None) -> torch.Tensor:
        """As `Trainer.training_step`; the loss is looked at once the step's gradient is complete."""
        loss = super().training_step(model, inputs, num_items_in_batch)
        self.guard.losses.append(loss)
        return loss

    def _get_grad_norm(self, model, grad_norm=None):
        """The gradient's norm, asked for just before the optimiser's step; see `FaultGuard`."""
        norm = super()._get_grad_norm(model, grad_norm)
        # A gradient scaler (fp16) leaves out steps by itself while it looks for its scale.
        if not self.guard.takes(norm) and getattr(self.accelerator, "scaler", None) is None:
            step = self.state.global_step
            self.guard.report(step + 1, *self._train_loader.describe(step), norm)
            model.zero_grad()  # the optimiser passes over weights without a gradient
        return norm

    def _get_output_dir(self, trial) -> str:
        return self._staging or super()._get_output_dir(trial)

    def _save_checkpoint(self, model, trial) -> None:
        """Save a checkpoint that is either whole or not there; see `vaswani_mt.checkpoints`.

        Raises:
            OSError: it could not be saved, for want of room, say. Earlier checkpoints are as they were.
        """
        run_dir, name = super()._get_output_dir(trial), f"{checkpoints.PREFIX}{self.state.global_step}"
        if self._saved == (final := os.path.join(run_dir, name)):
            return
        if self.is_local_process_zero():
            checkpoints.discard_staging(run_dir)
        self.accelerator.wait_for_everyone()
        try:
            self._staging = os.path.join(run_dir, checkpoints.STAGING)
            super()._save_checkpoint(model, trial)
            if self.state.best_global_step == self.state.global_step:
                self.state.best_model_checkpoint = final
            if self.args.should_save and isinstance(self._train_loader, StreamLoader):
                stream = json.dumps(self._train_loader.state_dict())
                Path(self._staging, name, STREAM_STATE).write_text(stream, encoding="utf-8")
            self.accelerator.wait_for_everyone()
            if self.args.should_save:
                checkpoints.publish(run_dir, name, self.state)
        except (OSError, RuntimeError, SafetensorError) as error:
            if not self.args.should_save:
                raise
            raise checkpoints.save_failure(run_dir, name, error) from error
        finally:
            self._staging = None
        self._saved = final
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            rotate_checkpoints(run_dir, self.args.save_total_limit, self.state.best_model_checkpoint)
        if self.args.push_to_hub:
            self._push_from_checkpoint(final)

    def _init_training_state(
        self, max_steps, num_update_steps_per_epoch, num_train_epochs, resume_from_checkpoint, trial
    ) -> tuple[int, int]:
        """As in Trainer; a stream goes on from its state, instead of from its start past all that was read."""
        trained = super()._init_training_state(
            max_steps, num_update_steps_per_epoch, num_train_epochs, resume_from_checkpoint, trial
        )
        if resume_from_checkpoint is None or not isinstance(self._train_loader, StreamLoader):
            return trained
        state = Path(resume_from_checkpoint, STREAM_STATE)
        if not state.exists():
            raise ValueError(
                f"{resume_from_checkpoint} has no {STREAM_STATE}: that run was not streaming. Resume without it, or "
                "start a new run with --init_from."
            )
        self._train_loader.load_state_dict(json.loads(state.read_text(encoding="utf-8")))
        return 0, 0

    def _push_from_checkpoint(self, checkpoint_folder: str) -> None:
        if not self._staging:
            super()._push_from_checkpoint(checkpoint_folder)

    # --- Speed -------------------------------------------------------------------------------------------------

    def floating_point_ops(self, inputs: dict[str, Any]) -> float:  # type: ignore[override]
        """Operations of a micro-batch; Trainer asks once for each, so that here is where it is counted."""
        work = work_of(inputs, self.model.config)
        self.throughput.add(work)
        return work.flops

    def _maybe_log_save_evaluate(self, *args, **kwargs) -> None:
        with self.throughput.stopped():
            super()._maybe_log_save_evaluate(*args, **kwargs)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """As in Trainer; beside a training loss stand the figures of `Throughput`."""
        if "loss" in logs:
            logs |= self.throughput.figures()
        super().log(logs, start_time)

    # --- Data --------------------------------------------------------------------------------------------------

    def _loader(self, dataset: Dataset, tokens_per_batch: int, **sampling) -> TokenBatchLoader:
        lengths = dataset.with_format("numpy")
        sampler = TokenBatchSampler(
            lengths["source_length"][:], lengths["target_length"][:], tokens_per_batch, **sampling
        )
        return TokenBatchLoader(
            dataset.select_columns(["input_ids", "labels", *self.task.batch_columns]),  # type: ignore[arg-type]
            batch_sampler=sampler,
            collate_fn=self.data_collator,
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.dataloader_pin_memory and self.args.device.type == "cuda",
            persistent_workers=self.args.dataloader_persistent_workers,
        )

    def get_train_dataloader(self) -> TokenBatchLoader | StreamLoader:  # type: ignore[override]
        """This process's micro-batches; global batches are the same whatever the number of processes."""
        if isinstance(self.train_dataset, PairStream):
            self._train_loader = StreamLoader(
                self.train_dataset,
                self.data_collator,
                self.args.tokens_per_batch,
                background=self.args.dataloader_num_workers > 0,
                **self._sampling(),
            )
            return self._train_loader
        if self.train_dataset is None or len(self.train_dataset) == 0:
            raise ValueError("Training needs a train_dataset with at least one pair.")
        loader = self._loader(
            self.train_dataset,
            self.args.tokens_per_batch,
            **self._sampling(),
        )
        sampler: Any = loader.batch_sampler
        batches = sampler.epoch_batches()
        logger.warning_once(  # the level that is shown by default
            f"{sampler.source_lengths.size} pairs in {sampler.num_batches} batches an epoch of at most "
            f"{self.args.tokens_per_batch} source and target tokens each, over {self.args.world_size} process(es) and "
            f"{self.args.gradient_accumulation_steps} accumulation step(s); padding: source "
            f"{padding_share(sampler.source_lengths, batches):.1%}, target "
            f"{padding_share(sampler.target_lengths, batches):.1%}"
        )
        self._train_loader = loader
        return loader

    def _sampling(self) -> dict[str, int]:
        return {
            "seed": self.args.data_seed if self.args.data_seed is not None else self.args.seed,
            "rank": self.args.process_index,
            "num_processes": self.args.world_size,
            "micro_batches": self.args.micro_batches,
        }

    def get_eval_dataloader(self, eval_dataset=None) -> TokenBatchLoader:
        """Every batch, shortest first; `evaluation_loop` deals them out to the processes."""
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        dataset = self.eval_dataset[dataset] if isinstance(dataset, str) else dataset
        if dataset is None or len(dataset) == 0:
            raise ValueError("Evaluation needs a data set with at least one example.")
        # Nothing is left out here: an example longer than the budget makes a batch of its own.
        longest = max(max(dataset["source_length"]), max(dataset["target_length"]))
        return self._loader(dataset, max(self.args.eval_tokens_per_batch, longest), shuffle=False)

    def get_test_dataloader(self, test_dataset) -> TokenBatchLoader:
        """As `get_eval_dataloader`."""
        return self.get_eval_dataloader(test_dataset)

    # --- Loss --------------------------------------------------------------------------------------------------

    def _model_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The batch without the columns that are the task's own."""
        return {name: value for name, value in inputs.items() if name not in self.task.batch_columns}

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        """The model's loss and, with `guided_alignment`, that of its attention; see `alignment_loss`."""
        alignment, inputs = inputs.get("alignment"), self._model_inputs(inputs)
        if not self.args.guided_alignment or alignment is None:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        inputs |= {"output_attentions": True}
        loss, outputs = super().compute_loss(model, inputs, True, num_items_in_batch)
        attention = alignment_loss(outputs.cross_attentions[-2:], alignment)
        count = (alignment != IGNORED).sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss + self.args.guided_alignment * attention / count
        return (loss, outputs) if return_outputs else loss

    # --- Evaluation --------------------------------------------------------------------------------------------

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval", **gen_kwargs):
        """Loss, perplexity and the task's scores of `eval_dataset`; see `evaluation_loop`."""
        self._evaluated = self.eval_dataset if eval_dataset is None else eval_dataset
        return super().evaluate(eval_dataset, ignore_keys, metric_key_prefix, **gen_kwargs)

    def predict(self, test_dataset, ignore_keys=None, metric_key_prefix="test", **gen_kwargs):
        """As `evaluate`; `predictions` are the generated ids [examples * num_return_sequences, length], padded."""
        self._evaluated = test_dataset
        return super().predict(test_dataset, ignore_keys, metric_key_prefix, **gen_kwargs)

    def evaluation_loop(
        self, dataloader, description, prediction_loss_only=None, ignore_keys=None, metric_key_prefix="eval"
    ) -> EvalLoopOutput:
        """Score every example exactly once and in order, on any number of processes.

        The stock loop repeats examples to fill the last batch and counts the repeats. Here process r takes batches
        r, r + W, ..., repeats of a last batch are thrown away, and what is scored are the references themselves.

        Returns:
            metrics: loss (nats per target token), perplexity, and `task.score` of the translations.
        """
        batches = list(dataloader.batch_sampler)
        world, rank = self.args.world_size, self.args.process_index
        # Every process runs the same number of batches: forward and generate may communicate.
        mine = [batches[min(i, len(batches) - 1)] for i in range(rank, -(-len(batches) // world) * world, world)]
        counted = [i < len(batches) for i in range(rank, rank + len(mine) * world, world)]
        model = self.model_wrapped if self.is_in_train else self.model
        model.eval()
        self.callback_handler.eval_dataloader = dataloader
        loss_only = self.args.prediction_loss_only or not self.args.predict_with_generate
        found: list[tuple[int, Any]] = []
        nll, tokens = 0.0, 0
        for indices, counts in zip(mine, counted, strict=True):
            inputs = self._prepare_inputs(self.data_collator(dataloader.dataset.__getitems__(indices)))
            with torch.no_grad(), self.compute_loss_context_manager():
                loss = model(**self._model_inputs(inputs), return_logits=False).loss.item()
            generated = [] if loss_only else self._generate(inputs)
            if counts:
                number = int((inputs["labels"] != IGNORED).sum())
                nll, tokens = nll + loss * number, tokens + number
                found += zip(indices, [None] * len(indices) if loss_only else generated, strict=True)
            self.control = self.callback_handler.on_prediction_step(self.args, self.state, self.control)
        totals = np.array(gather_object([(nll, tokens)])).sum(0)
        by_index = dict(gather_object(found))
        loss = float(totals[0] / totals[1])
        metrics: dict[str, Any] = {"loss": loss, "perplexity": math.exp(min(loss, 700))}
        predictions: Any = np.zeros((0, 0), dtype=np.int64)
        if not loss_only:
            best = [by_index[i] for i in range(len(by_index))]
            metrics |= self._score([sequences[0] for sequences in best])
            predictions = self._padded([sequence for sequences in best for sequence in sequences])
        return EvalLoopOutput(
            predictions=predictions,
            label_ids=None,
            metrics={f"{metric_key_prefix}_{name}": value for name, value in metrics.items()},
            num_samples=len(by_index),
        )

    def _generate(self, inputs: dict[str, torch.Tensor]) -> list[list[list[int]]]:
        """For each sentence of the batch its num_return_sequences best outputs, as ids."""
        settings = {name: value for name, value in self._gen_kwargs.items() if value is not None}
        settings |= self.task.generation(self.model, self.processing_class, inputs, settings)
        settings.setdefault("synced_gpus", is_deepspeed_zero3_enabled() or is_fsdp_managed_module(self.model))
        output = self.model.generate(  # type: ignore[operator]
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], **settings
        )
        assert isinstance(output, torch.Tensor)
        return output.view(inputs["input_ids"].shape[0], -1, output.shape[-1]).tolist()

    def _score(self, sequences: list[list[int]]) -> dict[str, Any]:
        """The task's scores, computed by the main process and known to all."""
        scores: list[Any] = [None]
        if self.args.process_index == 0:
            predictions = self.task.decode(sequences, self.processing_class, self._evaluated)
            scores = [self.task.score(predictions, self.task.references(self._evaluated))]
        return broadcast_object_list(scores)[0]

    def _padded(self, sequences: list[list[int]]) -> np.ndarray:
        ids = np.full((len(sequences), max(map(len, sequences))), self.model.config.pad_token_id)
        for row, sequence in zip(ids, sequences, strict=True):
            row[: len(sequence)] = sequence
        return ids
