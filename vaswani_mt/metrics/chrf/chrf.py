"""Corpus chrF and chrF++ by sacreBLEU."""

import datasets
import evaluate
from sacrebleu.metrics import CHRF

_CITATION = """\
@inproceedings{popovic-2015-chrf,
    title = "chr{F}: character n-gram {F}-score for automatic {MT} evaluation",
    author = "Popovi{\\'c}, Maja",
    booktitle = "Proceedings of the Tenth Workshop on Statistical Machine Translation",
    year = "2015",
    pages = "392--395",
}
"""

_DESCRIPTION = "Character n-gram F-score of a corpus; word_order=2 gives chrF++."

_ARGUMENTS = """\
Args:
    predictions: list of strings, one a segment.
    references: list of strings, or list of lists of strings, the same number for every segment.
    word_order: longest word n-gram counted too; 0 (default) is chrF, 2 is chrF++.
    lowercase: whether to score without regard to case.
Returns:
    score (0 to 100) and the signature.
Raises:
    ValueError: references and predictions do not match one to one.
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _ARGUMENTS)
class Chrf(evaluate.Metric):
    def _info(self):
        string = datasets.Value("string")
        features = [
            datasets.Features({"predictions": string, "references": datasets.Sequence(string)}),
            datasets.Features({"predictions": string, "references": string}),
        ]
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation=_CITATION, inputs_description=_ARGUMENTS, features=features
        )

    def _compute(self, predictions, references, word_order=0, lowercase=False):
        rows = [[row] if isinstance(row, str) else row for row in references]
        if len({len(row) for row in rows}) != 1:
            raise ValueError("Every segment needs the same number of references, at least one.")
        chrf = CHRF(word_order=word_order, lowercase=lowercase)
        result = chrf.corpus_score(predictions, [list(stream) for stream in zip(*rows, strict=True)])
        return {"score": result.score, "signature": str(chrf.get_signature())}
