"""Corpus BLEU: sacreBLEU's, and the tokenised and compound-split BLEU of the paper's tables."""

import re

import datasets
import evaluate
import sacremoses
from sacrebleu.metrics import BLEU

_CITATION = """\
@inproceedings{post-2018-call,
    title = "A Call for Clarity in Reporting {BLEU} Scores",
    author = "Post, Matt",
    booktitle = "Proceedings of the Third Conference on Machine Translation: Research Papers",
    year = "2018",
    pages = "186--191",
}
"""

_DESCRIPTION = """\
BLEU of a corpus. tokenize="13a" is sacreBLEU's default and the figure to report today. tokenize="none" scores text
that is tokenised already and "moses" tokenises it first; both then equal Moses' multi-bleu.perl. With
split_compounds=True on top of them it is the figure of the paper's English-German tables.
"""

_ARGUMENTS = """\
Args:
    predictions: list of strings, one a segment; an empty string is a legal translation.
    references: list of strings, or list of lists of strings, the same number for every segment.
    tokenize: "13a" (default), "none", "moses", or any other tokenizer of sacreBLEU ("intl", "zh", "char", ...).
    split_compounds: after tokenising, turn "a-b" into "a ##AT##-##AT## b" on both sides; as with the Perl expression
        s{(\\S)-(\\S)}{...}g it stands for, a character takes part in one match only: "a-b-c" becomes
        "a ##AT##-##AT## b-c".
    lowercase: False, True (every letter, as sacreBLEU does) or "ascii" (A to Z only, as multi-bleu.perl -lc does).
    language: needed by "moses": code of the language scored, such as "de".
Returns:
    score (0 to 100), precisions (4, in per cent), counts, totals, bp, sys_len, ref_len, and the signature.
Raises:
    ValueError: references and predictions do not match one to one, something is no string, or an unknown tokenizer.
"""

PLAIN = ("none", "moses")  # scored as multi-bleu.perl does: no smoothing


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _ARGUMENTS)
class Bleu(evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        features = [
            datasets.Features({"predictions": string, "references": datasets.Sequence(string)}),
            datasets.Features({"predictions": string, "references": string}),
        ]
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation=_CITATION, inputs_description=_ARGUMENTS, features=features
        )

    def compute(self, *, predictions=None, references=None, **kwargs):
        """Check what is given before it is turned into a table, where a fault is hard to recognise."""
        if predictions is not None:
            streams(predictions, references)
        return super().compute(predictions=predictions, references=references, **kwargs)

    def _compute(self, predictions, references, tokenize="13a", split_compounds=False, lowercase=False, language=None):
        known = sorted(set(BLEU.TOKENIZERS) | {"moses"})
        if tokenize not in known:
            raise ValueError(f"Unknown tokenizer {tokenize!r}: it must be one of {', '.join(known)}.")
        if lowercase not in (True, False, "ascii"):
            raise ValueError(f"lowercase={lowercase!r} must be True, False or 'ascii'.")
        if split_compounds and tokenize not in PLAIN:
            raise ValueError(f"split_compounds needs tokenize='none' or 'moses'; {tokenize!r} tokenises afterwards.")
        prepare = _preparation(tokenize, split_compounds, lowercase, language)
        hypotheses = [prepare(line) for line in predictions]
        reference_streams = [[prepare(line) for line in stream] for stream in streams(predictions, references)]
        plain = tokenize in PLAIN
        bleu = BLEU(
            lowercase=lowercase is True,
            tokenize="none" if plain else tokenize,
            smooth_method="none" if plain else "exp",
            force=True,
        )
        result = bleu.corpus_score(hypotheses, reference_streams)
        signature = str(bleu.get_signature())
        if plain:
            how = [tokenize if tokenize == "none" else f"moses-{language}-{sacremoses.__version__}"]
            how += ["compound-split"] if split_compounds else []
            signature = signature.replace("tok:none", f"tok:{'+'.join(how)}")
        if lowercase == "ascii":
            signature = signature.replace("case:mixed", "case:lc-ascii")
        return {
            "score": result.score,
            "precisions": result.precisions,
            "counts": result.counts,
            "totals": result.totals,
            "bp": result.bp,
            "sys_len": result.sys_len,
            "ref_len": result.ref_len,
            "signature": signature,
        }


def _preparation(tokenize, split_compounds, lowercase, language):
    """What is done to a line, on both sides, before sacreBLEU sees it."""
    if tokenize == "moses":
        if language is None:
            raise ValueError("tokenize='moses' needs the language scored, for instance language='de'.")
        # The defaults of tokenizer.perl -l LANG, as in tensor2tensor's script for the paper's figures.
        moses = sacremoses.MosesTokenizer(lang=language)

    def prepare(line):
        if tokenize == "moses":
            line = moses.tokenize(line, return_str=True, escape=True, aggressive_dash_splits=False)
        if split_compounds:
            line = re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", line)
        if lowercase == "ascii":
            line = re.sub(r"[A-Z]+", lambda match: match[0].lower(), line)
        return line

    return prepare


def streams(predictions, references):
    """Reference streams as sacreBLEU wants them (k lists of n), from n references or n lists of k.

    Raises:
        ValueError: see the module's arguments.
    """
    if references is None or isinstance(references, str) or isinstance(predictions, str):
        raise ValueError("predictions and references must be lists, one entry a segment.")
    predictions, references = list(predictions), list(references)
    if not predictions and not references:
        raise ValueError("Nothing to score: predictions and references are empty.")
    rows = [[row] if isinstance(row, str) else row for row in references]
    if len(predictions) != len(rows):
        transposed = all(isinstance(row, (list, tuple)) and len(row) == len(predictions) for row in rows)
        hint = (
            " They look transposed: give for every segment the list of its references, not one list a translator."
            if transposed
            else ""
        )
        raise ValueError(f"{len(predictions)} predictions but references for {len(rows)} segments.{hint}")
    for name, lines in (("prediction", predictions), ("reference", rows)):
        for i, line in enumerate(lines):
            parts = [line] if name == "prediction" else line
            if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
                raise ValueError(f"{name} {i} is {line!r}: it must be a string.")
    numbers = {len(row) for row in rows}
    if len(numbers) != 1 or 0 in numbers:
        odd = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]) or not row)
        raise ValueError(
            f"Every segment needs the same number of references, at least one: segment {odd} has {len(rows[odd])} and "
            f"segment 0 has {len(rows[0])}."
        )
    return [list(stream) for stream in zip(*rows, strict=True)]
