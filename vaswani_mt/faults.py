"""What goes wrong during a long run: a signal to terminate, a loss or a gradient that is not finite."""

import math
import signal
import threading
from collections.abc import Sequence

import torch
from accelerate import PartialState
from accelerate.utils import reduce
from transformers import TrainerCallback
from transformers.utils import logging

logger = logging.get_logger(__name__)

MOST_SKIPS_IN_A_ROW = 20  # so many steps without a finite gradient do not happen by chance


class FaultGuard(TrainerCallback):
    """Decides after every backward pass, alike on all processes, whether the step is taken and the run goes on.

    SIGTERM, sent to any of the processes, ends the run after the step it arrives in, with a checkpoint. A second one
    acts as it always does.

    Args:
        on_nonfinite: "stop" raises when loss or gradient is not finite; "skip" leaves that step's update out.

    Attributes:
        terminated: whether a signal ended the run.
        skipped: number of updates left out.
    """

    def __init__(self, on_nonfinite: str):
        self.on_nonfinite = on_nonfinite
        self.losses: list[torch.Tensor] = []  # of this step's micro-batches on this process
        self.terminated = False
        self.skipped = self._skipped_in_a_row = 0
        self._signalled = False
        self._handler: object = signal.SIG_DFL

    # --- Signals ---------------------------------------------------------------------------------------------------

    def on_train_begin(self, args, state, control, **kwargs):
        self.losses, self.terminated, self._signalled = [], False, False
        if threading.current_thread() is threading.main_thread():  # Python lets no other thread take signals
            self._handler = signal.signal(signal.SIGTERM, self._terminate)

    def on_train_end(self, args, state, control, **kwargs):
        self._restore()

    def _terminate(self, number, frame) -> None:
        self._signalled = True
        self._restore()
        logger.warning("SIGTERM: training ends after this step, with a checkpoint.")

    def _restore(self) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def on_step_end(self, args, state, control, **kwargs):
        if self.terminated:
            control.should_save = control.should_training_stop = True
            control.should_evaluate = False

    def on_epoch_end(self, args, state, control, **kwargs):
        if self.terminated:  # saved already, and there is no time to evaluate
            control.should_save = control.should_evaluate = False

    # --- Steps -----------------------------------------------------------------------------------------------------

    def takes(self, gradient_norm: torch.Tensor | float) -> bool:
        """Whether the optimiser may use the gradient: it and the losses of all processes are finite.

        Args:
            gradient_norm: of the whole step, the same on every process.
        """
        here = torch.stack([loss.detach().float().sum() for loss in self.losses]) if self.losses else torch.zeros(1)
        self.broken = (~torch.isfinite(here)).nonzero().flatten().tolist()
        self.step_losses, self.losses = here.tolist(), []
        flags = torch.tensor([float(self._signalled), float(bool(self.broken))], device=PartialState().device)
        terminated, broken = reduce(flags).tolist() if PartialState().num_processes > 1 else flags.tolist()
        self.terminated = terminated > 0
        finite = not broken and math.isfinite(float(gradient_norm))
        self._skipped_in_a_row = 0 if finite else self._skipped_in_a_row + 1
        return finite

    def report(
        self, step: int, batch: str, rows: Sequence[Sequence[int]], gradient_norm: torch.Tensor | float
    ) -> None:
        """Say which step and batch are to blame; raise if the run is to stop.

        Args:
            step: number of the optimisation step, the first is 1.
            batch: which batch of which epoch it took.
            rows: the micro-batches of this process, as rows of the training set.
            gradient_norm: of the step.

        Raises:
            FloatingPointError: `on_nonfinite` is "stop", or too many steps in a row were left out.
        """
        parts = [rows[i] for i in self.broken if i < len(rows)] or rows
        shown = "; ".join(f"{list(part[:40])}{' ...' if len(part) > 40 else ''}" for part in parts if len(part))
        what = (
            f"Step {step} ({batch}): losses {', '.join(f'{loss:.4g}' for loss in self.step_losses)}, gradient norm "
            f"{float(gradient_norm):.4g}. Rows of the training set: {shown or 'none on this process'}."
        )
        if self.on_nonfinite == "stop":
            raise FloatingPointError(
                f"{what} Nothing was updated. Lower learning_rate, lengthen warmup_steps, set max_grad_norm, look at "
                "these rows, or leave such steps out with --on_nonfinite skip; then go on with --resume true."
            )
        self.skipped += 1
        if self._skipped_in_a_row >= MOST_SKIPS_IN_A_ROW:
            raise FloatingPointError(
                f"{what} This is step {self._skipped_in_a_row} in a row that is not finite: the weights are beyond "
                "recovery. Go back to an earlier checkpoint with a lower learning_rate."
            )
        logger.warning(f"{what} This update is left out ({self.skipped} so far).")
