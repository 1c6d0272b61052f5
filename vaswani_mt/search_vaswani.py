"""Beam search as section 6.1 of "Attention Is All You Need" and its authors' tensor2tensor have it.

Shapes: B sentences, A of them still being decoded, k beams, K candidates a step, T generated symbols.
"""

from dataclasses import dataclass

import torch

LENGTH_PENALTIES = ("gnmt", "length")


def length_penalty(length: torch.Tensor, alpha: float, kind: str = "gnmt") -> torch.Tensor:
    """What the log-probability of a hypothesis of `length` symbols, end symbol included, is divided by.

    Args:
        length: any shape, at least 1.
        alpha: 0 for none; the paper's is 0.6 for translation and 0.3 for parsing.
        kind: "gnmt": ((5 + length) / 6)^alpha (Wu et al. 2016, the paper's); "length": length^alpha, which
            Hugging Face, fairseq and Marian use.

    Raises:
        ValueError: another `kind`.
    """
    if kind not in LENGTH_PENALTIES:
        raise ValueError(f"length_penalty_type={kind!r} is not possible: it must be one of {LENGTH_PENALTIES}.")
    length = length.to(torch.float32)
    return ((5 + length) / 6 if kind == "gnmt" else length) ** alpha


@dataclass
class Candidates:
    """The K best one-symbol continuations of each of A sentences, best first; -inf where there are fewer."""

    scores: torch.Tensor  # [A, K] float32, summed log-probabilities
    parents: torch.Tensor  # [A, K] int64, the hypothesis continued
    symbols: torch.Tensor  # [A, K] int64

    def pick(self, places: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """places [A, n] -> parents and symbols there, [A, n] each."""
        return self.parents.gather(1, places), self.symbols.gather(1, places)


@dataclass
class Hypotheses:
    """What a search found: n hypotheses for each of B sentences, best first."""

    symbols: torch.Tensor  # [B * n, T] int64, filled with the fill symbol
    scores: torch.Tensor  # [B * n] float32, after the length penalty
    rows: torch.Tensor  # [B * n, T] int32, sentence * k + beam that each symbol continued; -1 after the end


class BeamSearch:
    """Keeps the k best unfinished and the k best finished hypotheses of each sentence.

    With `early_stopping` None it is tensor2tensor's search: a sentence ends when no unfinished hypothesis can still
    enter the n best, because even with no further loss and the penalty of the longest output allowed it would score
    less. Such an end changes no result. Hypotheses cut off at the limit count only where too few have ended by
    themselves. With True, False or "never" it is transformers' search, where a cut-off hypothesis is a finished one
    and only the k best candidates of a step may finish; False and True may end before the best is found.

    Args:
        limits: [B] int64, most generated symbols of each sentence.
        num_beams: k.
        num_return: n, at most k.
        end_symbols: int64 [number].
        width: number of equal hypotheses to start from; only the first of them counts.
        alpha, penalty: see `length_penalty`.
        early_stopping: None, True, False or "never".
        longest: most generated symbols of any sentence, which "never" reckons with.
    """

    def __init__(
        self,
        limits: torch.Tensor,
        num_beams: int,
        num_return: int,
        end_symbols: torch.Tensor,
        *,
        width: int = 1,
        alpha: float,
        penalty: str = "gnmt",
        early_stopping: bool | str | None = None,
        longest: int = 0,
    ):
        batch, device = len(limits), limits.device
        self.limits, self.num_beams, self.num_return = limits, num_beams, num_return
        self.end_symbols, self.alpha, self.penalty = end_symbols, alpha, penalty
        self.early_stopping, self.longest = early_stopping, longest
        self.active = torch.arange(batch, device=device)
        self.done = torch.zeros(batch, dtype=torch.bool, device=device)  # of the active ones
        self.scores = torch.full((batch, width), float("-inf"), device=device)
        self.scores[:, 0] = 0
        # The finished ones of all sentences; -inf marks a free place.
        self.finished = torch.full((batch, num_beams), float("-inf"), device=device)
        self.lengths = torch.zeros((batch, num_beams), dtype=torch.int64, device=device)
        self.parents, self.symbols = torch.zeros_like(self.lengths), torch.zeros_like(self.lengths)
        # Back pointers: for each step the hypothesis that each unfinished one continued, and with what.
        self.steps: list[tuple[torch.Tensor, torch.Tensor]] = []

    @property
    def num_candidates(self) -> int:
        """K: enough that k of them go on whatever number of end symbols there is."""
        return max(2, 1 + len(self.end_symbols)) * self.num_beams

    def candidates(
        self, values: torch.Tensor, symbols: torch.Tensor | None = None, *, sample: bool = False
    ) -> Candidates:
        """The K best continuations, or K drawn without replacement.

        Args:
            values: [A * w, n] log-probabilities of `symbols` [A * w, n], or of all n = V symbols.
            sample: draw by the softmax of the hypotheses' summed log-probabilities, as transformers does.
        """
        active, number = len(self.active), values.shape[1]
        totals = (self.scores[..., None] + values.view(active, -1, number)).flatten(1)
        count = min(self.num_candidates, totals.shape[1])
        if sample:
            places = torch.multinomial(totals.softmax(-1), count)
            places = places.gather(1, totals.gather(1, places).argsort(-1, descending=True))
            scores = totals.gather(1, places)
        else:
            scores, places = totals.topk(count)
        chosen = places % number if symbols is None else symbols.view(active, -1).gather(1, places)
        parents = places // number
        missing = self.num_candidates - count
        if missing:  # fewer continuations than candidates: impossible ones fill up
            scores = torch.nn.functional.pad(scores, (0, missing), value=float("-inf"))
            parents, chosen = (torch.nn.functional.pad(part, (0, missing)) for part in (parents, chosen))
        return Candidates(scores, parents, chosen)

    def divided(self, scores: torch.Tensor, length: int | torch.Tensor) -> torch.Tensor:
        return scores / length_penalty(torch.as_tensor(length, device=scores.device), self.alpha, self.penalty)

    def advance(
        self, candidates: Candidates, stopped: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Take in a step's candidates.

        Args:
            stopped: [A, K], candidates that some other criterion ends.

        Returns:
            parents and symbols [A, k] of the hypotheses that go on; `done` says for which sentences none need to.
        """
        length = len(self.steps) + 1
        ended = torch.isin(candidates.symbols, self.end_symbols)
        if stopped is not None:
            ended = ended | stopped
        at_limit = (length >= self.limits[self.active])[:, None]
        out = ended | at_limit
        if self.early_stopping is None:
            self._finish(candidates, ended, length)
            if bool(at_limit.any()):
                self._fill_up(candidates, at_limit & ~ended, length)
        else:
            best = torch.arange(out.shape[1], device=out.device) < self.num_beams
            self._finish(candidates, out & best, length)
        self.scores, places = candidates.scores.masked_fill(out, float("-inf")).topk(self.num_beams)
        parents, symbols = candidates.pick(places)
        self._record(parents, symbols)
        self.done = self.done | self._is_done(at_limit[:, 0], length)
        return parents, symbols

    def _finish(self, candidates: Candidates, ended: torch.Tensor, length: int) -> None:
        """Merge the ended candidates of sentences that are not done into the finished hypotheses."""
        counts = ended & ~self.done[:, None]
        new = self.divided(candidates.scores, length).masked_fill(~counts, float("-inf"))
        merged, places = torch.cat([self.finished[self.active], new], 1).topk(self.num_beams)
        self._store(candidates, merged, places, length)

    def _fill_up(self, candidates: Candidates, cut: torch.Tensor, length: int) -> None:
        """Give candidates cut off at the limit the places that no ended hypothesis has."""
        counts = cut & ~self.done[:, None]
        new = self.divided(candidates.scores, length).masked_fill(~counts, float("-inf"))
        both = torch.cat([self.finished[self.active], new], 1)  # each part best first
        places = (both == float("-inf")).to(torch.int8).argsort(dim=1, stable=True)[:, : self.num_beams]
        self._store(candidates, both.gather(1, places), places, length)

    def _store(self, candidates: Candidates, scores: torch.Tensor, places: torch.Tensor, length: int) -> None:
        """`places` [A, k] in the finished hypotheses followed by the candidates."""
        lengths = torch.full_like(candidates.symbols, length)
        for name, new in (("lengths", lengths), ("parents", candidates.parents), ("symbols", candidates.symbols)):
            kept = getattr(self, name)
            kept[self.active] = torch.cat([kept[self.active], new], 1).gather(1, places)
        self.finished[self.active] = scores

    def _is_done(self, at_limit: torch.Tensor, length: int) -> torch.Tensor:
        finished, best = self.finished[self.active], self.scores[:, 0]
        nothing_goes_on = best == float("-inf")
        if self.early_stopping is None:
            limits = self.limits[self.active]
            bound = self.divided(best, limits if self.alpha >= 0 else torch.full_like(limits, length + 1))
            return at_limit | nothing_goes_on | (finished[:, self.num_return - 1] >= bound)
        longest = self.longest if self.early_stopping == "never" and self.alpha > 0 else length
        worst = finished[:, -1]
        full = worst > float("-inf")
        return nothing_goes_on | (full & ((worst >= self.divided(best, longest)) | (self.early_stopping is True)))

    def _record(self, *back: torch.Tensor) -> None:
        if len(self.active) < len(self.limits):
            shape = len(self.limits), self.num_beams
            back = tuple(part.new_zeros(shape).index_copy_(0, self.active, part) for part in back)
        self.steps.append((back[0], back[1]))

    def keep(self, places: torch.Tensor) -> None:
        """Go on with these of the active sentences (int64) only."""
        self.active, self.done, self.scores = self.active[places], self.done[places], self.scores[places]

    def result(self, fill: int) -> Hypotheses:
        """The n best of every sentence, spelled by following the back pointers from their ends."""
        n, k = self.num_return, self.num_beams
        lengths, beams = self.lengths[:, :n].flatten(), self.parents[:, :n].flatten()
        last = self.symbols[:, :n].flatten()
        longest = int(lengths.max())
        sentence = torch.arange(len(self.limits), device=lengths.device).repeat_interleave(n)
        symbols = lengths.new_full((len(lengths), longest), fill)
        rows = torch.full_like(symbols, -1, dtype=torch.int32)
        for step in range(longest - 1, -1, -1):
            parents, chosen = self.steps[step]
            ends, inside = lengths == step + 1, lengths > step + 1
            here = sentence, beams
            beams_before = torch.where(inside, parents[here], beams)
            symbols[:, step] = torch.where(ends, last, torch.where(inside, chosen[here], fill))
            rows[:, step] = torch.where(ends | inside, sentence * k + beams_before, -1).to(torch.int32)
            beams = beams_before
        return Hypotheses(symbols, self.finished[:, :n].flatten(), rows)


__all__ = ["BeamSearch", "Candidates", "Hypotheses", "length_penalty"]
