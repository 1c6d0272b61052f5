"""Clauses that belong to no language: who does what to whom, where and when."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from .lexicon import (
    DETERMINERS,
    PL3,
    PRESENT,
    SG3,
    Adjective,
    Adverb,
    Conjunction,
    Determiner,
    Modal,
    Name,
    Noun,
    Preposition,
    Pronoun,
    Verb,
)

_A, _BARE = DETERMINERS["a"], DETERMINERS["bare"]


@dataclass(slots=True)
class NounPhrase:
    """A noun with what belongs to it; `possessor` is the English genitive in 's, `of` the one with "of"."""

    noun: Noun
    plural: bool
    determiner: Determiner
    adjectives: tuple[Adjective, ...] = ()
    possessor: "NounPhrase | Name | None" = None
    of: "NounPhrase | None" = None
    modifier: "PrepositionalPhrase | None" = None

    @property
    def slot(self) -> int:
        return PL3 if self.plural else SG3

    @property
    def feminine(self) -> bool:
        return self.noun.feminine


class Relativised(NamedTuple):
    """A noun phrase with a relative clause, whose subject or else object is a `Gap`; commas set off a free one."""

    head: NounPhrase | Name
    clause: "Clause"
    restrictive: bool

    @property
    def slot(self) -> int:
        return self.head.slot

    @property
    def plural(self) -> bool:
        return self.head.plural

    @property
    def feminine(self) -> bool:
        return self.head.feminine


class Coordination(NamedTuple):
    """Two noun phrases joined by "and"."""

    first: NounPhrase | Name
    second: NounPhrase | Name
    slot: int = PL3
    plural: bool = True

    @property
    def feminine(self) -> bool:
        return self.first.feminine and self.second.feminine


class Gap(NamedTuple):
    """The silent subject or object of a relative clause, a question or a second verb phrase, with its agreement."""

    slot: int = SG3
    plural: bool = False
    feminine: bool = False


Nominal: TypeAlias = NounPhrase | Relativised | Coordination | Name | Pronoun | Gap


class PrepositionalPhrase(NamedTuple):
    """A preposition with its noun phrase."""

    preposition: Preposition
    nominal: NounPhrase | Name


class Subordinate(NamedTuple):
    """A subordinate clause with its conjunction."""

    conjunction: Conjunction
    clause: "Clause"


@dataclass(slots=True)
class Clause:
    """What a clause says; `fronted` is the part before the subject, `coordinate` a second verb phrase after "and"."""

    verb: Verb
    subject: Nominal
    tense: int = PRESENT
    modal: Modal | None = None
    negated: bool = False
    frequency: Adverb | None = None
    indirect: Nominal | None = None
    object: Nominal | None = None
    predicate: Adjective | None = None
    manner: Adverb | None = None
    place: PrepositionalPhrase | None = None
    time: Adverb | PrepositionalPhrase | None = None
    complement: Subordinate | None = None
    adverbial: Subordinate | None = None
    coordinate: "Clause | None" = None
    fronted: Literal["", "time", "place", "adverbial"] = ""


class Sentence(NamedTuple):
    """A statement, a question (with a `question_word` or without), or two statements joined by `conjunction`."""

    clause: Clause
    is_question: bool = False
    question_word: Adverb | None = None
    conjunction: Conjunction | None = None
    second: Clause | None = None


def is_never(adverb: Adverb | None) -> bool:
    """Whether the adverb is "never", which negates the clause in French."""
    return adverb is not None and adverb.fr == "jamais"


def is_definite(nominal: Nominal) -> bool:
    """Whether German puts the object before adverbs, and negates the clause rather than the object."""
    if isinstance(nominal, Relativised):
        nominal = nominal.head
    if isinstance(nominal, Coordination):
        return is_definite(nominal.first) and is_definite(nominal.second)
    return not isinstance(nominal, NounPhrase) or nominal.determiner.definite


def takes_no(nominal: Nominal | None) -> bool:
    """Whether negation turns the object into "kein Buch", "pas de livre"."""
    return isinstance(nominal, NounPhrase) and (nominal.determiner is _A or nominal.determiner is _BARE)


def join(*parts: str) -> str:
    return " ".join([part for part in parts if part])


# A clause emits its own commas; next to another comma, to the final stop or at the beginning they are superfluous.
_SUPERFLUOUS_COMMAS = re.compile(r" ,(?=(?: ,)* [,.?])|^ ?, ")


def finish(words: str) -> str:
    text = _SUPERFLUOUS_COMMAS.sub("", words).replace(" ,", ",").replace(" .", ".")
    return text[0].upper() + text[1:]
