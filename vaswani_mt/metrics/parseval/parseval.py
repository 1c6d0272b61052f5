"""PARSEVAL: labelled bracketing scores of constituency trees, as the program EVALB prints them with COLLINS.prm."""

import re
from collections import Counter
from dataclasses import dataclass, field

import datasets
import evaluate

_CITATION = """\
@inproceedings{black-etal-1991-procedure,
    title = "A Procedure for Quantitatively Comparing the Syntactic Coverage of {E}nglish Grammars",
    author = "Black, E. and others",
    booktitle = "Speech and Natural Language: Proceedings of a Workshop",
    year = "1991",
}
@misc{evalb,
    title = "{EVALB}: bracket scoring program",
    author = "Sekine, Satoshi and Collins, Michael",
    year = "1997",
}
"""

_DESCRIPTION = """\
Recall, precision and F1 of labelled (and unlabelled) brackets, complete matches, crossing brackets and tagging
accuracy, over all sentences and over those of at most 40 words: the figures of EVALB with the parameters of Collins
(1997), by which Penn Treebank parsers are compared. EVALB leaves out the sentences whose words differ from the gold
tree's ("error") and those without any output ("skip"). The figures called strict leave out nothing: in such a sentence
nothing counts as found.
"""

_ARGUMENTS = """\
Args:
    predictions: list of trees in brackets, one string each; an empty string is a sentence without output.
    references: list of gold trees, the same number.
    per_sentence: whether to return a row for every sentence.
    cutoff: longest sentence, in words, of the second block of figures (40).
Returns:
    f1, recall, precision, complete_match, average_crossing, no_crossing, two_or_less_crossing, tagging_accuracy (all
    but average_crossing in percent), sentences, errors, skipped, valid; unlabelled_f1, unlabelled_recall,
    unlabelled_precision; strict_f1, strict_recall, strict_precision; all of these again with the suffix "_40" (the
    cutoff) for short sentences; signature; with per_sentence also rows, a list of dicts with the columns of EVALB.
Examples:
    >>> parseval.compute(predictions=["(TOP (S (NP (PRP It)) (VP (VBZ is))))"],
    ...                  references=["(TOP (S (NP (PRP It)) (VBZ is)))"])["recall"]
    100.0
"""

# COLLINS.prm: what is not scored (a tag takes its word along), and what counts as the same label.
DELETED = frozenset(("TOP", "-NONE-", ",", ":", "``", "''", "."))
NOT_COUNTED = frozenset(("-NONE-",))  # for the length of a sentence
SAME_LABEL = {"PRT": "ADVP"}
# A deleted quotation mark may be tagged as something else on the other side.
QUOTE_LABELS = frozenset(("``", "''", "POS"))
QUOTE_WORDS = frozenset(("'", '"', "/"))

_SPACE = r" \t\n\r\f\v"
_TOKEN = re.compile(rf"\(([^{_SPACE}()]*)(?:[{_SPACE}]+([^{_SPACE}()]+)[{_SPACE}]*\))?|(\))|([^{_SPACE}()]+)")
_FUNCTION_TAG = re.compile("[-=]")

SCORED, ERROR, SKIPPED = 0, 1, 2


@dataclass(slots=True)
class _Quote:
    """A quotation mark, kept or deleted: its place among the words kept; the brackets opened before, and around it."""

    label: str
    word: str
    index: int
    bracket: int
    around: list[int]


@dataclass(slots=True)
class _Tree:
    """What is scored of a tree: tagged words, brackets [label, start, end] over their positions, its length."""

    terminals: list[tuple[str, str]] = field(default_factory=list)
    brackets: list[list] = field(default_factory=list)
    quotes: list[_Quote] = field(default_factory=list)
    length: int = 0
    error: str | None = None


def _read(text: str) -> _Tree:
    tree = _Tree()
    stack: list[int] = []
    terminals, brackets = tree.terminals, tree.brackets
    for label, word, closing, stray in _TOKEN.findall(text):
        if word:
            tree.length += label not in NOT_COUNTED
            if label in QUOTE_LABELS and word in QUOTE_WORDS:
                tree.quotes.append(_Quote(label, word, len(terminals), len(brackets), list(stack)))
            if label not in DELETED:
                terminals.append((label, word))
        elif closing:
            if not stack:
                tree.error = "a closing bracket too many"
                return tree
            brackets[stack.pop()][2] = len(terminals)
        elif stray:
            tree.error = f"{stray!r} is neither a label nor the only word of its bracket"
            return tree
        else:
            stack.append(len(brackets))
            brackets.append([label, len(terminals), 0])
    if stack:
        tree.error = f"{len(stack)} closing brackets missing"
    return tree


def _insert(tree: _Tree, quote: _Quote) -> None:
    """Put a deleted quotation mark back among the words."""
    tree.terminals.insert(quote.index, (quote.label, quote.word))
    for bracket in tree.brackets[quote.bracket :]:
        bracket[1] += 1
        bracket[2] += 1
    for number in quote.around:
        tree.brackets[number][2] += 1
    for other in tree.quotes[tree.quotes.index(quote) :]:
        other.index += 1


def _reconcile_quotes(gold: _Tree, test: _Tree) -> None:
    """Where one side deleted a quotation mark and the other tagged it as something that stays, both keep it."""
    for quote in test.quotes:
        for other in gold.quotes:
            if other.index == quote.index and other.label != quote.label:
                if other.label in DELETED and quote.label not in DELETED:
                    _insert(gold, other)
                elif quote.label in DELETED and other.label not in DELETED:
                    _insert(test, quote)


def _scored_brackets(tree: _Tree) -> list[tuple[str, int, int]]:
    """Brackets without function tags, without those that are not scored or hold no word."""
    found = []
    for label, start, end in tree.brackets:
        label = _FUNCTION_TAG.split(label, maxsplit=1)[0]
        if start != end and label not in DELETED:
            found.append((SAME_LABEL.get(label, label), start, end))
    return found


def _crossing(gold: list[tuple[str, int, int]], test: list[tuple[str, int, int]]) -> int:
    """Number of test brackets that cross some gold bracket."""
    spans = {(start, end) for _, start, end in gold}
    crossing = 0
    for _, start, end in test:
        if (start, end) not in spans:
            crossing += any(s < start < e < end or start < s < end < e for s, e in spans)
    return crossing


def _common(gold: list, test: list) -> int:
    return sum((Counter(gold) & Counter(test)).values())


def _compare(number: int, gold: _Tree, test: _Tree) -> dict:
    """One row: the columns of EVALB and what the other figures need."""
    row = {
        "sentence": number,
        "length": gold.length,
        "status": SCORED,
        "recall": 0.0,
        "precision": 0.0,
        "matched": 0,
        "gold": 0,
        "test": 0,
        "crossing": 0,
        "words": 0,
        "correct_tags": 0,
        "tagging_accuracy": 0.0,
        "unlabelled_matched": 0,
        "all_gold": 0,
        "message": "",
    }
    gold_brackets = _scored_brackets(gold)
    row["all_gold"] = len(gold_brackets)
    if test.error:
        return row | {"status": ERROR, "message": f"the predicted tree is malformed: {test.error}"}
    if not test.terminals:
        return row | {"status": SKIPPED, "message": "no words in the prediction"}
    if len(gold.terminals) != len(test.terminals):
        _reconcile_quotes(gold, test)
        gold_brackets = _scored_brackets(gold)
    if len(gold.terminals) != len(test.terminals):
        return row | {"status": ERROR, "message": f"{len(gold.terminals)} words, {len(test.terminals)} predicted"}
    for (_, word), (_, other) in zip(gold.terminals, test.terminals, strict=True):
        if word != other:
            return row | {"status": ERROR, "message": f"the words differ: {word} {other}"}
    test_brackets = _scored_brackets(test)
    matched, words = _common(gold_brackets, test_brackets), len(gold.terminals)
    correct = sum(
        SAME_LABEL.get(tag, tag) == SAME_LABEL.get(other, other)
        for (tag, _), (other, _) in zip(gold.terminals, test.terminals, strict=True)
    )
    return row | {
        "recall": _percent(matched, len(gold_brackets)),
        "precision": _percent(matched, len(test_brackets)),
        "matched": matched,
        "gold": len(gold_brackets),
        "test": len(test_brackets),
        "crossing": _crossing(gold_brackets, test_brackets),
        "words": words,
        "correct_tags": correct,
        "tagging_accuracy": _percent(correct, words),
        "unlabelled_matched": _common([b[1:] for b in gold_brackets], [b[1:] for b in test_brackets]),
    }


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def _f1(recall: float, precision: float) -> float:
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _summary(rows: list[dict]) -> dict:
    valid = [row for row in rows if row["status"] == SCORED]

    def total(column: str, of: list[dict] = valid) -> int:
        return sum(row[column] for row in of)

    gold, test, matched = total("gold"), total("test"), total("matched")
    recall, precision = _percent(matched, gold), _percent(matched, test)
    unlabelled = _percent(total("unlabelled_matched"), gold), _percent(total("unlabelled_matched"), test)
    strict_recall = _percent(matched, total("all_gold", rows))
    complete = sum(row["gold"] == row["test"] == row["matched"] for row in valid)
    return {
        "f1": _f1(recall, precision),
        "recall": recall,
        "precision": precision,
        "strict_f1": _f1(strict_recall, precision),
        "strict_recall": strict_recall,
        "strict_precision": precision,
        "unlabelled_f1": _f1(*unlabelled),
        "unlabelled_recall": unlabelled[0],
        "unlabelled_precision": unlabelled[1],
        "complete_match": _percent(complete, len(valid)),
        "average_crossing": total("crossing") / len(valid) if valid else 0.0,
        "no_crossing": _percent(sum(row["crossing"] == 0 for row in valid), len(valid)),
        "two_or_less_crossing": _percent(sum(row["crossing"] <= 2 for row in valid), len(valid)),
        "tagging_accuracy": _percent(total("correct_tags"), total("words")),
        "sentences": len(rows),
        "errors": sum(row["status"] == ERROR for row in rows),
        "skipped": sum(row["status"] == SKIPPED for row in rows),
        "valid": len(valid),
    }


def format_evalb(rows: list[dict], cutoff: int = 40) -> str:
    """Rows of `compute(..., per_sentence=True)` as EVALB prints them, with both summaries."""
    line = "=" * 76
    text = [
        "  Sent.                        Matched  Bracket   Cross        Correct Tag",
        " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
        line,
    ]
    text += [
        f"{row['sentence']:4d}  {row['length']:3d}    {row['status']}  {row['recall']:6.2f} {row['precision']:6.2f}"
        f"   {row['matched']:3d}    {row['gold']:3d}  {row['test']:3d}    {row['crossing']:3d}"
        f"   {row['words']:4d}  {row['correct_tags']:4d}   {row['tagging_accuracy']:6.2f}"
        for row in rows
    ]
    text.append(line)
    totals = {
        name: sum(row[name] for row in rows)
        for name in ("matched", "gold", "test", "crossing", "words", "correct_tags")
    }
    figures = _summary(rows)
    brackets = (
        f"                {figures['recall']:6.2f} {figures['precision']:6.2f} {totals['matched']:6d} "
        f"{totals['gold']:5d} {totals['test']:5d}  {totals['crossing']:5d}"
    )
    text.append(
        (brackets if totals["gold"] and totals["test"] else "")
        + f"  {totals['words']:5d} {totals['correct_tags']:5d}   {figures['tagging_accuracy']:6.2f}"
    )
    text.append("=== Summary ===")
    short = [row for row in rows if row["length"] <= cutoff]
    for title, part in (("All", figures), (f"len<={cutoff}", _summary(short))):
        text += [
            f"\n-- {title} --",
            f"Number of sentence        = {part['sentences']:6d}",
            f"Number of Error sentence  = {part['errors']:6d}",
            f"Number of Skip  sentence  = {part['skipped']:6d}",
            f"Number of Valid sentence  = {part['valid']:6d}",
            f"Bracketing Recall         = {part['recall']:6.2f}",
            f"Bracketing Precision      = {part['precision']:6.2f}",
            f"Bracketing FMeasure       = {part['f1']:6.2f}",
            f"Complete match            = {part['complete_match']:6.2f}",
            f"Average crossing          = {part['average_crossing']:6.2f}",
            f"No crossing               = {part['no_crossing']:6.2f}",
            f"2 or less crossing        = {part['two_or_less_crossing']:6.2f}",
            f"Tagging accuracy          = {part['tagging_accuracy']:6.2f}",
        ]
    return "\n".join(text) + "\n"


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _ARGUMENTS)
class Parseval(evaluate.Metric):
    """Bracketing scores of trees; see the module's description."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_ARGUMENTS,
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(self, predictions, references, per_sentence=False, cutoff=40):
        rows = []
        for number, (prediction, reference) in enumerate(zip(predictions, references, strict=True), start=1):
            gold = _read(reference)
            if gold.error or not gold.brackets + gold.terminals:
                raise ValueError(f"Gold tree {number} is malformed: {gold.error or 'it is empty'}. {reference[:80]!r}")
            rows.append(_compare(number, gold, _read(prediction)))
        short = [row for row in rows if row["length"] <= cutoff]
        scores = _summary(rows)
        scores |= {f"{name}_{cutoff}": value for name, value in _summary(short).items()}
        scores["signature"] = (
            f"parseval|params:collins|cutoff:{cutoff}|errors:{scores['errors']}|skipped:{scores['skipped']}"
        )
        if per_sentence:
            scores["rows"] = rows
        return scores
