"""The words of the grammar with all their forms in English, German and French.

The classes below are what the rows of `vaswani_mt.data.trilingual.tables` become, regular inflection filled in.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from . import tables

# Conjugation slots. "You" is the polite German "Sie" and French "vous", so that no second person singular exists.
SG1, SG3, PL1, PL2, PL3 = range(5)
PRESENT, PAST, FUTURE = range(3)
NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
MASCULINE, FEMININE, NEUTER, PLURAL = range(4)  # columns of every German declension table
_T = TypeVar("_T")
_CASES = {"acc": ACCUSATIVE, "dat": DATIVE, "gen": GENITIVE}


class Noun(NamedTuple):
    """A noun: `en` and `fr` are (singular, plural), `de` is indexed [plural][case]; no plural is an empty string."""

    en: tuple[str, str]
    de: tuple[tuple[str, ...], tuple[str, ...]]
    de_gender: int
    fr: tuple[str, str]
    feminine: bool
    kinds: frozenset[str]


class Adjective(NamedTuple):
    """An adjective: `de` is (predicative form, stem for endings), `fr` is indexed [plural][feminine].

    `fr_liaison` is the masculine singular before a vowel; `before` tells that French puts it before the noun.
    """

    en: str
    de: tuple[str, str]
    fr: tuple[tuple[str, str], tuple[str, str]]
    fr_liaison: str
    before: bool
    kinds: frozenset[str]
    trait: str


class Determiner(NamedTuple):
    """A determiner: `en` is (singular, plural, tag), `de` is indexed [case][gender], `fr` (masc., fem., plural).

    `declension` is the German adjective declension that follows: "weak", "mixed" or "strong".
    """

    en: tuple[str, str, str]
    de: tuple[tuple[str, ...], ...]
    declension: str
    fr: tuple[str, str, str]
    definite: bool


class GermanVerb(NamedTuple):
    """German forms by slot; `past` is the preterite where that is the natural past ("hatte"), else empty: Perfekt.

    A separable `prefix` is part of neither the present nor the infinitive, but of the participle.
    """

    infinitive: str
    prefix: str
    present: tuple[str, ...]
    sein: bool
    participle: str
    past: tuple[str, ...]
    preposition: str
    case: int


class FrenchVerb(NamedTuple):
    """French forms by slot; `past` is the imperfect where that is the natural past, else empty: passé composé."""

    infinitive: str
    present: tuple[str, ...]
    etre: bool
    participle: str
    past: tuple[str, ...]
    future: tuple[str, ...]
    preposition: str


class Verb(NamedTuple):
    """A verb: `en` is (base, third person, past), `preposition` introduces its English object ("" if direct).

    `frame` is one of "intransitive", "transitive", "ditransitive", "to", "that", "whether", "it" (weather) and
    "predicative"; `subject` and `objects` are the kinds of nouns it takes; the tables explain the flags.
    """

    en: tuple[str, str, str]
    preposition: str
    de: GermanVerb
    fr: FrenchVerb
    frame: str
    subject: str
    objects: tuple[str, ...]
    flags: frozenset[str]

    @property
    def is_direct(self) -> bool:
        """Whether its object needs no preposition in any language."""
        return not (self.preposition or self.de.preposition or self.fr.preposition)


class Modal(NamedTuple):
    """A modal verb in the present: an English (base, third person) with its tag, German and French by slot."""

    en: tuple[str, str]
    tag: str
    de: tuple[str, ...]
    fr: tuple[str, ...]


class Pronoun(NamedTuple):
    """A personal pronoun: `en` is (subject, object), `de` by case, `fr` (subject, direct, indirect)."""

    en: tuple[str, str]
    de: tuple[str, ...]
    fr: tuple[str, str, str]
    slot: int
    plural: bool
    feminine: bool


class Name(NamedTuple):
    """The name of a person or a city."""

    en: str
    de: str
    fr: str
    feminine: bool = False
    plural: bool = False
    slot: int = SG3


class Preposition(NamedTuple):
    """A preposition: `en` is a tree with a gap for the noun phrase, `case` is the one German governs."""

    en: str
    de: str
    case: int
    fr: str


class Adverb(NamedTuple):
    """An adverb or a fixed adverbial: `en` is its tree."""

    en: str
    de: str
    fr: str


class Conjunction(NamedTuple):
    """A subordinating or coordinating conjunction: `en` is its tree, `de_past` the German one of a past clause."""

    en: str
    de: str
    fr: str
    de_past: str


def _rows(table: str, columns: int) -> Iterator[list[str]]:
    for line in table.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != columns:
            raise ValueError(f"lexicon row {line!r}: expected {columns} columns, found {len(cells)}")
        yield cells


_DEFINITE_ARTICLE = (
    ("der", "die", "das", "die"),
    ("den", "die", "das", "die"),
    ("dem", "der", "dem", "den"),
    ("des", "der", "des", "der"),
)
RELATIVE_PRONOUN = (*_DEFINITE_ARTICLE[:2], ("dem", "der", "dem", "denen"))
_STRONG = (("er", "e", "es", "e"), ("en", "e", "es", "e"), ("em", "er", "em", "en"), ("es", "er", "es", "er"))
_OBLIQUE = (("en",) * 4, ("en",) * 4)
ADJECTIVE_ENDINGS = {
    "weak": (("e", "e", "e", "en"), ("en", "e", "e", "en"), *_OBLIQUE),
    "mixed": (("er", "e", "es", "en"), ("en", "e", "es", "en"), *_OBLIQUE),
    "strong": (*_STRONG[:3], ("en", "er", "en", "er")),
}
# German present of I, he, we where the infinitive does not tell it
HABEN, SEIN, WERDEN = (
    (i, he, we, we, we)
    for i, he, we in (("habe", "hat", "haben"), ("bin", "ist", "sind"), ("werde", "wird", "werden"))
)
# The verbs whose natural past is a preterite and an imperfect
_SIMPLE_PASTS = {
    "haben": (("hatte", "hatte", "hatten", "hatten", "hatten"), ("avais", "avait", "avions", "aviez", "avaient")),
    "sein": (("war", "war", "waren", "waren", "waren"), ("étais", "était", "étions", "étiez", "étaient")),
}


def _with_s(word: str) -> str:
    """The English plural or third person singular of a regular word."""
    if word.endswith(("s", "x", "ch", "sh", "go")):
        return word + "es"
    return word[:-1] + "ies" if word[-1] == "y" and word[-2] not in "aeou" else word + "s"


def _with_ed(verb: str) -> str:
    if verb[-1] == "y" and verb[-2] not in "aeou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _noun(english: str, german: str, french: str, kinds: str) -> Noun:
    singular, plural = [*english.split(), _with_s(english)][:2]
    article, *forms = german.split()
    gender = ("der", "die", "das").index(article)
    de, de_plural, genitive = forms[0], forms[-1].strip("-"), forms[0]
    oblique = de
    if gender != FEMININE:
        genitive += forms[1][1:]
        # The weak masculines take -n in every case but the nominative.
        oblique = genitive if forms[1] in ("-n", "-en") else de
    de_dative = de_plural if de_plural.endswith(("n", "s")) or not de_plural else de_plural + "n"
    fr_gender, fr, *fr_plural = french.split()
    implied = " ".join(tables.IMPLIED_KINDS.get(kind, "") for kind in kinds.split())
    return Noun(
        en=(singular, plural.strip("-")),
        de=((de, oblique, oblique, genitive), (de_plural, de_plural, de_dative, de_plural)),
        de_gender=gender,
        fr=(fr, fr_plural[0].strip("-") if fr_plural else fr + "s"),
        feminine=fr_gender == "f",
        kinds=frozenset(kinds.split() + implied.split()),
    )


def _adjective(english: str, german: str, french: str, kinds: str, trait: str) -> Adjective:
    predicative, _, stem = german.partition("/")
    forms = french.split()
    before = forms[-1] == "<"
    masculine, _, liaison = forms[0].partition("/")
    feminine, masculines, feminines = (
        forms[1:4]
        if len(forms) > 2
        else (masculine if masculine.endswith("e") else masculine + "e", masculine + "s", "")
    )
    return Adjective(
        en=english,
        de=(predicative, stem or predicative.removesuffix("e")),
        fr=((masculine, feminine), (masculines, feminines or feminine + "s")),
        fr_liaison=liaison or masculine,
        before=before,
        kinds=frozenset(kinds.split()),
        trait=trait,
    )


def _determiner(english: str, german: str, french: str) -> tuple[str, Determiner]:
    key, singular, plural, tag = english.split()
    stem, declension = german.split()
    de: tuple[tuple[str, ...], ...]
    if declension == "definite":
        de, declension = _DEFINITE_ARTICLE, "weak"
    elif declension == "invariant" or stem == "-":
        de, declension = ((stem.strip("-"),) * 4,) * 4, "strong"
    else:
        endings = [list(row) for row in _STRONG]
        if declension == "mixed":
            endings[NOMINATIVE][MASCULINE] = endings[NOMINATIVE][NEUTER] = endings[ACCUSATIVE][NEUTER] = ""
        de = tuple(tuple(stem + ending for ending in row) for row in endings)
    masculine, feminine, fr_plural = (form.strip() for form in french.split("/"))
    return key, Determiner(
        en=(singular.strip("-"), plural.strip("-"), tag),
        de=de,
        declension=declension,
        fr=(masculine, feminine, fr_plural),
        definite=key in tables.DEFINITE_DETERMINERS,
    )


def _german_verb(cell: str) -> GermanVerb:
    cell, _, government = cell.partition(";")
    *preposition, case = government.split() or ["acc"]
    infinitive, *parts = cell.split()
    prefix, _, infinitive = infinitive.rpartition("+")
    stem = infinitive.removesuffix("n").removesuffix("e")
    third, auxiliary, participle = parts or (stem + ("et" if stem.endswith("t") else "t"), "hat", "")
    # A third person without -t is the first one too: ich weiß, er weiß.
    first = stem + "e" if third.endswith("t") else third
    return GermanVerb(
        infinitive=infinitive,
        prefix=prefix,
        present=SEIN if infinitive == "sein" else (first, third, infinitive, infinitive, infinitive),
        sein=auxiliary == "ist",
        participle=participle or "ge" + third,
        past=_SIMPLE_PASTS.get(infinitive, ((), ()))[0],
        preposition=" ".join(preposition),
        case=_CASES[case],
    )


_FRENCH_FORMS = {infinitive: forms for infinitive, *forms in _rows(tables.FRENCH_VERBS, 4)}


def _french_verb(cell: str) -> FrenchVerb:
    infinitive, _, preposition = cell.partition("/")
    present, participle, future = _FRENCH_FORMS.get(infinitive, ("", "", ""))
    if infinitive.endswith("er"):
        endings, regular = ("e", "e", "ons", "ez", "ent"), "é"
    else:
        endings, regular = ("s", "", "ons", "ez", "ent"), "u"
    auxiliary, participle = participle.split() or ("a", infinitive[:-2] + regular)
    future = future or infinitive.removesuffix("e")
    return FrenchVerb(
        infinitive=infinitive,
        present=tuple(present.split()) or tuple(infinitive[:-2] + ending for ending in endings),
        etre=auxiliary == "est",
        participle=participle,
        past=_SIMPLE_PASTS.get({"avoir": "haben", "être": "sein"}.get(infinitive, ""), ((), ()))[1],
        future=tuple(future + ending for ending in ("ai", "a", "ons", "ez", "ont")),
        preposition=preposition,
    )


def _verb(english: str, german: str, french: str, arguments: str, flags: str) -> Verb:
    english, _, preposition = english.partition("/")
    base, past = [*english.split(), _with_ed(english)][:2]
    subject, *rest = arguments.split()
    frame = rest[0] if rest else {"it": "it", "any": "predicative"}.get(subject, "intransitive")
    return Verb(
        en=(base, {"have": "has", "be": "is"}.get(base) or _with_s(base), past),
        preposition=preposition,
        de=_german_verb(german),
        fr=_french_verb(french),
        frame={">": "transitive", ">>": "ditransitive"}.get(frame, frame),
        subject=subject,
        objects=tuple(rest[1:]),
        flags=frozenset(flags.split()),
    )


def _modal(english: str, german: str, french: str) -> Modal:
    base, third, tag = english.split()
    i, we = german.split()
    return Modal(en=(base, third), tag=tag, de=(i, i, we, we, we), fr=tuple(french.split()))


def _pronoun(english: str, german: str, french: str) -> Pronoun:
    subject, obj = english.split()
    slot = {"I": SG1, "we": PL1, "you": PL2, "they": PL3}.get(subject, SG3)
    fr = tuple(french.split())
    return Pronoun((subject, obj), tuple(german.split()), (fr[0], fr[1], fr[2]), slot, slot >= PL1, subject == "she")


def _name(word: str, feminine: bool = False) -> Name:
    en, *others = word.split("/")
    de, fr = others or (en, en)
    return Name(en, de, fr, feminine)


def _grouped(pairs: Iterable[tuple[str, _T]]) -> dict[str, tuple[_T, ...]]:
    groups = defaultdict(list)
    for key, item in pairs:
        groups[key].append(item)
    return {key: tuple(items) for key, items in groups.items()}


NOUNS = tuple(_noun(*row) for row in _rows(tables.NOUNS, 4))
ADJECTIVES = tuple(_adjective(*row) for row in _rows(tables.ADJECTIVES, 5))
DETERMINERS = dict(_determiner(*row) for row in _rows(tables.DETERMINERS, 3))
VERBS = tuple(_verb(*row) for row in _rows(tables.VERBS, 5))
MODALS = tuple(_modal(*row) for row in _rows(tables.MODALS, 3))
PRONOUNS = {pronoun.en[0]: pronoun for pronoun in (_pronoun(*row) for row in _rows(tables.PRONOUNS, 3))}
PREPOSITIONS = _grouped(
    (use, Preposition(en, de.split()[0], _CASES[de.split()[1]], fr))
    for use, en, de, fr in _rows(tables.PREPOSITIONS, 4)
)
ADVERBS = _grouped((use, Adverb(en, de, fr)) for uses, en, de, fr in _rows(tables.ADVERBS, 4) for use in uses.split())
CONJUNCTIONS = {
    key: Conjunction(en, de.partition("/")[0], fr, de.partition("/")[2] or de.partition("/")[0])
    for key, en, de, fr in _rows(tables.CONJUNCTIONS, 4)
}
QUESTION_WORDS = {key: Adverb(en, de, fr) for key, en, de, fr in _rows(tables.QUESTION_WORDS, 4)}
PEOPLE = (*(_name(word, True) for word in tables.WOMEN.split()), *(_name(word) for word in tables.MEN.split()))
CITIES = tuple(_name(word) for word in tables.CITIES.split())

NOUNS_OF_KIND = _grouped((kind, noun) for noun in NOUNS for kind in noun.kinds)
VERBS_OF_FRAME = _grouped((verb.frame, verb) for verb in VERBS)
VERBS_WITH_OBJECT = _grouped((kind, verb) for verb in VERBS_OF_FRAME["transitive"] for kind in verb.objects)
