"""Clauses without a language, and how English (as a tree), German and French say them.

The classes hold what is said: who does what to whom, where and when. `english_tree`, `german` and `french` are the
three realisers of a `Sentence`; each section below reads from the noun phrase up to the sentence.
"""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from .lexicon import (
    ADJECTIVE_ENDINGS,
    DATIVE,
    DETERMINERS,
    FEMININE,
    FUTURE,
    GENITIVE,
    HABEN,
    MASCULINE,
    NOMINATIVE,
    PAST,
    PL3,
    PLURAL,
    PRESENT,
    RELATIVE_PRONOUN,
    SEIN,
    SG3,
    WERDEN,
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

_A, _BARE, _NO = (DETERMINERS[key] for key in ("a", "bare", "no"))


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


def _takes_no(nominal: Nominal | None) -> bool:
    """Whether negation turns the object into "kein Buch", "pas de livre"."""
    return isinstance(nominal, NounPhrase) and (nominal.determiner is _A or nominal.determiner is _BARE)


def _join(*parts: str) -> str:
    return " ".join([part for part in parts if part])


# A clause emits its own commas; next to another comma, to the final stop or at the beginning they are superfluous.
_SUPERFLUOUS_COMMAS = re.compile(r" ,(?=(?: ,)* [,.?])|^ ?, ")


def _finish(words: str) -> str:
    text = _SUPERFLUOUS_COMMAS.sub("", words).replace(" ,", ",").replace(" .", ".")
    return text[0].upper() + text[1:]


# ---------------------------------------------------------------------------------------------------------- English

_BE = (("VBP", "am"), ("VBZ", "is"), ("VBP", "are"), ("VBP", "are"), ("VBP", "are"))
_WERE = (("VBD", "was"), ("VBD", "was"), ("VBD", "were"), ("VBD", "were"), ("VBD", "were"))
_DO = ("do", "does", "did")
_NO_COMMA = re.compile(r" \(, ,\)(?=\)* \([,.] )")
_FIRST_LEAF = re.compile(r" (\w)(?=[^\s()]*\))")


def _finite(forms: tuple[str, ...], slot: int, past: bool) -> str:
    if past:
        return f"(VBD {forms[2]})"
    return f"(VBZ {forms[1]})" if slot == SG3 else f"(VBP {forms[0]})"


def _en_nominal(nominal: Nominal, is_object: bool = False) -> str:
    if isinstance(nominal, NounPhrase):
        return _en_noun_phrase(nominal)
    if isinstance(nominal, Pronoun):
        return f"(NP (PRP {nominal.en[is_object]}))"
    if isinstance(nominal, Name):
        return f"(NP (NNP {nominal.en}))"
    if isinstance(nominal, Relativised):
        clause = nominal.clause
        is_subject = isinstance(clause.subject, Gap)
        person = isinstance(nominal.head, Name) or "person" in nominal.head.noun.kinds
        if person:
            word = "(WP who)" if is_subject else "(WP whom)"
        else:
            word = "(WDT that)" if nominal.restrictive else "(WDT which)"
        sbar = f"(SBAR (WHNP {word}) (S {_en_clause(clause)}))"
        head = _en_nominal(nominal.head)
        return f"(NP {head} {sbar})" if nominal.restrictive else f"(NP {head} (, ,) {sbar} (, ,))"
    if isinstance(nominal, Coordination):
        return f"(NP {_en_nominal(nominal.first)} (CC and) {_en_nominal(nominal.second)})"
    return ""


def _en_noun_phrase(phrase: NounPhrase) -> str:
    noun = phrase.noun.en[phrase.plural]
    words = [f"(JJ {adjective.en})" for adjective in phrase.adjectives]
    if phrase.possessor:
        words.insert(0, f"{_en_nominal(phrase.possessor)[:-1]} (POS 's))")
    elif determiner := phrase.determiner.en[phrase.plural]:
        if determiner == "a" and (phrase.adjectives[0].en if phrase.adjectives else noun)[0] in "aeiou":
            determiner = "an"
        words.insert(0, f"({phrase.determiner.en[2]} {determiner})")
    words.append(f"({'NNS' if phrase.plural else 'NN'} {noun})")
    tree = f"(NP {' '.join(words)})"
    if phrase.of:
        tree = f"(NP {tree} (PP (IN of) {_en_noun_phrase(phrase.of)}))"
    if phrase.modifier:
        tree = f"(NP {tree} {_en_adjunct(phrase.modifier)})"
    return tree


def _en_adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.en
    return adjunct.preposition.en.format(_en_nominal(adjunct.nominal))


def _en_subordinate(subordinate: Subordinate | None) -> str:
    return f"(SBAR {subordinate.conjunction.en} (S {_en_clause(subordinate.clause)}))" if subordinate else ""


def _en_arguments(clause: Clause) -> str:
    """What follows the last verb of the clause."""
    verb = clause.verb
    nominal = _en_nominal(clause.object, is_object=True) if clause.object else ""
    if verb.preposition:
        nominal = f"(PP ({'TO' if verb.preposition == 'to' else 'IN'} {verb.preposition}) {nominal})"
    return _join(
        _en_nominal(clause.indirect, is_object=True) if clause.indirect else "",
        nominal,
        f"(ADJP (JJ {clause.predicate.en}))" if clause.predicate else "",
        _en_adjunct(clause.manner),
        _en_adjunct(clause.place) if clause.fronted != "place" else "",
        _en_adjunct(clause.time) if clause.fronted != "time" else "",
        _en_subordinate(clause.complement),
        _en_subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
    )


def _en_verb_phrase(clause: Clause, inverted: bool = False) -> tuple[str, str]:
    """The auxiliary if it is inverted, else "", and the rest of the verb phrase."""
    slot, past = clause.subject.slot, clause.tense == PAST
    forms, arguments = clause.verb.en, _en_arguments(clause)
    negation = "(RB not)" if clause.negated else ""
    auxiliary = ""
    if clause.tense == FUTURE:
        auxiliary = "(MD will)"
    elif clause.modal and clause.modal.tag == "MD":
        auxiliary = f"(MD {clause.modal.en[0]})"
    elif clause.modal:
        forms, arguments = clause.modal.en, f"(S (VP (TO to) (VP (VB {forms[0]}) {arguments})))"
    if clause.predicate:
        adverb = _en_adjunct(clause.frequency)
        if not auxiliary:
            tag, form = (_WERE if past else _BE)[slot]
            finite, rest = f"({tag} {form})", _join(negation, adverb, arguments)
            return (finite, rest) if inverted else ("", f"(VP {finite} {rest})")
    if not auxiliary and (negation or inverted):
        auxiliary = _finite(_DO, slot, past)
    if not auxiliary:
        return "", f"(VP {_join(_finite(forms, slot, past), arguments)})"
    infinitive = f"(VP {_join(f'(VB {forms[0]})', arguments)})"
    return (auxiliary, infinitive) if inverted else ("", f"(VP {_join(auxiliary, negation, infinitive)})")


def _en_clause(clause: Clause, inverted: bool = False) -> str:
    """The constituents of the clause's S (or SQ, if inverted)."""
    front = {"time": clause.time, "place": clause.place}.get(clause.fronted)
    front_tree = _en_subordinate(clause.adverbial) if clause.fronted == "adverbial" else _en_adjunct(front)
    auxiliary, verb_phrase = _en_verb_phrase(clause, inverted)
    if clause.coordinate:
        verb_phrase = f"(VP {verb_phrase} (CC and) {_en_verb_phrase(clause.coordinate)[1]})"
    return _join(
        front_tree and front_tree + " (, ,)",
        auxiliary,
        _en_nominal(clause.subject),
        "" if clause.predicate else _en_adjunct(clause.frequency),
        verb_phrase,
    )


def english_tree(sentence: Sentence) -> str:
    """The Penn Treebank tree of the sentence, in one line, its first leaf capitalised.

    Args:
        sentence: what is said.

    Returns:
        The bracketed tree; its leaves are the English sentence.
    """
    clause, word = sentence.clause, sentence.question_word
    if sentence.second and sentence.conjunction:
        first, second = (f"(S {_en_clause(part)})" for part in (clause, sentence.second))
        tree = f"(TOP (S {first} (, ,) {sentence.conjunction.en} {second} (. .)))"
    elif not sentence.is_question:
        tree = f"(TOP (S {_en_clause(clause)} (. .)))"
    elif not word:
        tree = f"(TOP (SQ {_en_clause(clause, inverted=True)} (. ?)))"
    else:
        tree = f"(TOP (SBARQ {word.en} (SQ {_en_clause(clause, inverted=not isinstance(clause.subject, Gap))}) (. ?)))"
    return _FIRST_LEAF.sub(lambda leaf: " " + leaf[1].upper(), _NO_COMMA.sub("", tree), count=1)


# ----------------------------------------------------------------------------------------------------------- German

_CONTRACTION_DE = re.compile(r"\b(in dem|bei dem|von dem|zu dem|zu der)(?= )")
_CONTRACTED_DE = {"in dem": "im", "bei dem": "beim", "von dem": "vom", "zu dem": "zum", "zu der": "zur"}


def _de_nominal(nominal: Nominal, case: int, determiner: Determiner | None = None) -> str:
    """The noun phrase in the case, without its relative clause; `determiner` replaces its own."""
    if isinstance(nominal, NounPhrase):
        return _de_noun_phrase(nominal, case, determiner or nominal.determiner)
    if isinstance(nominal, Pronoun):
        return nominal.de[case]
    if isinstance(nominal, Name):
        return nominal.de
    if isinstance(nominal, Relativised):
        return _de_nominal(nominal.head, case)
    if isinstance(nominal, Coordination):
        return f"{_de_nominal(nominal.first, case)} und {_de_nominal(nominal.second, case)}"
    return ""


def _de_noun_phrase(phrase: NounPhrase, case: int, determiner: Determiner) -> str:
    gender = PLURAL if phrase.plural else phrase.noun.de_gender
    ending = ADJECTIVE_ENDINGS[determiner.declension][case][gender]
    words = [determiner.de[case][gender], *(adjective.de[1] + ending for adjective in phrase.adjectives)]
    words.append(phrase.noun.de[phrase.plural][case])
    if isinstance(phrase.possessor, Name):
        words[0] = phrase.possessor.de + "s"
    elif phrase.possessor:
        words.append(_de_nominal(phrase.possessor, GENITIVE))
    if phrase.of:
        words.append(_de_nominal(phrase.of, GENITIVE))
    if phrase.modifier:
        words.append(_de_adjunct(phrase.modifier))
    return _join(*words)


def _de_relative(nominal: Nominal | None) -> str:
    if not isinstance(nominal, Relativised):
        return ""
    head, clause = nominal.head, nominal.clause
    if head.plural:
        gender = PLURAL
    elif isinstance(head, Name):
        gender = FEMININE if head.feminine else MASCULINE
    else:
        gender = head.noun.de_gender
    case = NOMINATIVE if isinstance(clause.subject, Gap) else clause.verb.de.case
    return f", {RELATIVE_PRONOUN[case][gender]} {_de_clause(clause, 'final')} ,"


def _de_adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.de
    return f"{adjunct.preposition.de} {_de_nominal(adjunct.nominal, adjunct.preposition.case)}"


def _de_subordinate(subordinate: Subordinate | None) -> str:
    if not subordinate:
        return ""
    conjunction, clause = subordinate
    word = conjunction.de_past if clause.tense == PAST else conjunction.de
    return f", {word} {_de_clause(clause, 'final')} ,"


def _de_verb(clause: Clause) -> tuple[str, str, str]:
    """The finite verb, its separable prefix, and the participle or infinitive at the end."""
    verb, slot = clause.verb.de, clause.subject.slot
    if clause.modal:
        return clause.modal.de[slot], "", verb.prefix + verb.infinitive
    if clause.tense == FUTURE:
        return WERDEN[slot], "", verb.prefix + verb.infinitive
    if clause.tense == PRESENT:
        return verb.present[slot], verb.prefix, ""
    if verb.past:
        return verb.past[slot], verb.prefix, ""
    return (SEIN if verb.sein else HABEN)[slot], "", verb.participle


def _de_middle(clause: Clause) -> str:
    """The middle field: pronouns, persons, definite things, time, other things, "nicht", manner, place."""
    verb, nominal = clause.verb.de, clause.object
    pronoun = early = late = prepositional = indirect = ""
    kein = clause.negated and _takes_no(nominal)
    if clause.indirect:
        indirect = _de_nominal(clause.indirect, DATIVE)
    if nominal:
        text = _de_nominal(nominal, verb.case, _NO if kein else None)
        if verb.preposition:
            prepositional = f"{verb.preposition} {text}"
        elif isinstance(nominal, Pronoun):
            pronoun = text
        elif is_definite(nominal) and not clause.indirect:
            early = text
        else:
            late = text
    return _join(
        pronoun,
        indirect,
        early,
        _de_adjunct(clause.time) if clause.fronted != "time" else "",
        _de_adjunct(clause.frequency),
        late,
        "nicht" if clause.negated and not kein else "",
        _de_adjunct(clause.manner),
        prepositional,
        _de_adjunct(clause.place) if clause.fronted != "place" else "",
        clause.predicate.de[0] if clause.predicate else "",
    )


def _de_clause(clause: Clause, order: Literal["second", "first", "final"], front: str = "") -> str:
    """The clause with its finite verb in first, second or final position; relative clauses follow the verbs."""
    finite, prefix, infinite = _de_verb(clause)
    subject = _join(_de_nominal(clause.subject, NOMINATIVE), _de_relative(clause.subject))
    middle = _de_middle(clause)
    after = _join(
        _de_relative(clause.object),
        _de_subordinate(clause.complement),
        _de_subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
        f"und {_de_clause(clause.coordinate, 'first')}" if clause.coordinate else "",
    )
    if order == "final":
        return _join(subject, middle, infinite, prefix + finite, after)
    if clause.fronted == "adverbial":
        front = _de_subordinate(clause.adverbial)
    elif clause.fronted:
        front = _de_adjunct(clause.time if clause.fronted == "time" else clause.place)
    if order == "second" and not front:
        return _join(subject, finite, middle, prefix + infinite, after)
    return _join(front, finite, subject, middle, prefix + infinite, after)


def german(sentence: Sentence) -> str:
    """The sentence in German.

    Args:
        sentence: what is said.

    Returns:
        The German text as one would write it, capitalised and with its punctuation attached.
    """
    if sentence.is_question:
        word = sentence.question_word.de if sentence.question_word else ""
        if word == "wen" and sentence.clause.verb.de.case == DATIVE:
            word = "wem"
        words = _de_clause(sentence.clause, "first", word) + " ?"
    else:
        words = _de_clause(sentence.clause, "second")
        if sentence.second and sentence.conjunction:
            words = f"{words} {sentence.conjunction.de} {_de_clause(sentence.second, 'second')}"
        words += " ."
    words = _CONTRACTION_DE.sub(lambda match: _CONTRACTED_DE[match[1]], words)
    return _finish(words).replace(" ?", "?")


# ----------------------------------------------------------------------------------------------------------- French

_AVOIR = ("ai", "a", "avons", "avez", "ont")
_ETRE = ("suis", "est", "sommes", "êtes", "sont")
_VOWEL = "aeiouhâàéèêëîïôœAEIOUH"  # every h of the lexicon is mute
_ELISION_FR = re.compile(rf"\b(le|la|je|ne|de|que|me|ce|ma|sa|si(?= il\b)) (?=[{_VOWEL}])")
_ELIDED_FR = {"ce": "cet ", "ma": "mon ", "sa": "son "}
_CONTRACTION_FR = re.compile(r"\b(de|à) (les?)(?= )")
_CONTRACTED_FR = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}


def _agree(participle: str, nominal: Nominal) -> str:
    plural = "s" if nominal.plural and not (participle.endswith("s") and not nominal.feminine) else ""
    return participle + ("e" if nominal.feminine else "") + plural


def _fr_nominal(nominal: Nominal | None, determiner: Determiner | None = None) -> str:
    """The noun phrase with its relative clause; of a pronoun, the subject form."""
    if isinstance(nominal, NounPhrase):
        return _fr_noun_phrase(nominal, determiner or nominal.determiner)
    if isinstance(nominal, Pronoun | Name):
        return nominal.fr if isinstance(nominal, Name) else nominal.fr[0]
    if isinstance(nominal, Relativised):
        pronoun = "qui" if isinstance(nominal.clause.subject, Gap) else "que"
        relative = f"{pronoun} {_fr_clause(nominal.clause)}"
        return f"{_fr_nominal(nominal.head)} {relative if nominal.restrictive else f', {relative} ,'}"
    if isinstance(nominal, Coordination):
        return f"{_fr_nominal(nominal.first)} et {_fr_nominal(nominal.second)}"
    return ""


def _fr_noun_phrase(phrase: NounPhrase, determiner: Determiner) -> str:
    plural, feminine = phrase.plural, phrase.noun.feminine
    noun = phrase.noun.fr[plural]
    before, after = [], []
    for adjective in phrase.adjectives:
        form = adjective.fr[plural][feminine]
        if not adjective.before:
            after.append(form)
        else:
            before.append(adjective.fr_liaison if noun[0] in _VOWEL and not plural and not feminine else form)
    article = determiner.fr[2 if plural else feminine]
    if article == "des" and before:
        article = "de"
    possessor = phrase.possessor or phrase.of
    return _join(
        article,
        *before,
        noun,
        *after,
        f"de {_fr_nominal(possessor)}" if possessor else "",
        _fr_adjunct(phrase.modifier),
    )


def _fr_adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.fr
    return f"{adjunct.preposition.fr} {_fr_nominal(adjunct.nominal)}"


def _fr_subordinate(subordinate: Subordinate | None) -> str:
    return f"{subordinate.conjunction.fr} {_fr_clause(subordinate.clause)}" if subordinate else ""


def _fr_verb(clause: Clause) -> tuple[str, str]:
    """The finite verb and its infinitive or participle, which agrees with a preceding direct object."""
    verb, subject, nominal = clause.verb.fr, clause.subject, clause.object
    if clause.modal:
        return clause.modal.fr[subject.slot], verb.infinitive
    if clause.tense == FUTURE:
        return verb.future[subject.slot], ""
    if clause.tense == PRESENT:
        return verb.present[subject.slot], ""
    if verb.past:
        return verb.past[subject.slot], ""
    if verb.etre:
        return _ETRE[subject.slot], _agree(verb.participle, subject)
    if isinstance(nominal, Pronoun | Gap) and not verb.preposition:
        return _AVOIR[subject.slot], _agree(verb.participle, nominal)
    return _AVOIR[subject.slot], verb.participle


def _fr_clause(clause: Clause) -> str:
    verb, nominal = clause.verb.fr, clause.object
    never = is_never(clause.frequency)
    negative = clause.negated or never
    finite, infinite = _fr_verb(clause)
    clitic = obj = ""
    if isinstance(nominal, Pronoun):
        clitic = nominal.fr[2 if verb.preposition else 1]
    elif nominal:
        obj = _join(verb.preposition, _fr_nominal(nominal, _NO if negative and _takes_no(nominal) else None))
    indirect = ""
    if isinstance(clause.indirect, Pronoun):
        clitic = clause.indirect.fr[2]
    elif clause.indirect:
        indirect = f"à {_fr_nominal(clause.indirect)}"
    # A person follows the thing given, unless a relative clause makes that too long.
    objects = (indirect, obj) if isinstance(nominal, Relativised) else (obj, indirect)
    front = {"time": clause.time, "place": clause.place}.get(clause.fronted)
    front_words = _fr_subordinate(clause.adverbial) if clause.fronted == "adverbial" else _fr_adjunct(front)
    return _join(
        front_words and front_words + " ,",
        _fr_nominal(clause.subject),
        "ne" if negative else "",
        clitic if not clause.modal else "",
        finite,
        "pas" if clause.negated else _fr_adjunct(clause.frequency),
        clitic if clause.modal else "",
        infinite,
        *objects,
        clause.predicate.fr[clause.subject.plural][clause.subject.feminine] if clause.predicate else "",
        _fr_adjunct(clause.manner),
        _fr_adjunct(clause.place) if clause.fronted != "place" else "",
        _fr_adjunct(clause.time) if clause.fronted != "time" else "",
        _fr_subordinate(clause.complement),
        _fr_subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
        f"et {_fr_clause(clause.coordinate)}" if clause.coordinate else "",
    )


def french(sentence: Sentence) -> str:
    """The sentence in French.

    Args:
        sentence: what is said.

    Returns:
        The French text as one would write it, with elisions and contractions, and a space before "?".
    """
    words = _fr_clause(sentence.clause)
    if sentence.is_question:
        word = sentence.question_word.fr if sentence.question_word else ""
        is_subject = isinstance(sentence.clause.subject, Gap)
        words = _join(word, "" if is_subject else "est-ce que", words, "?")
    elif sentence.second and sentence.conjunction:
        words = f"{words} {sentence.conjunction.fr} {_fr_clause(sentence.second)} ."
    else:
        words += " ."
    words = _ELISION_FR.sub(lambda match: _ELIDED_FR.get(match[1], match[1][:-1] + "'"), words)
    words = _CONTRACTION_FR.sub(lambda match: _CONTRACTED_FR[match[0]], words)
    return _finish(words)
