"""How German says a clause."""

import re
from typing import Literal

from .clauses import (
    Clause,
    Coordination,
    Gap,
    Nominal,
    NounPhrase,
    PrepositionalPhrase,
    Relativised,
    Sentence,
    Subordinate,
    finish,
    is_definite,
    join,
    takes_no,
)
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
    PLURAL,
    PRESENT,
    RELATIVE_PRONOUN,
    SEIN,
    WERDEN,
    Adverb,
    Determiner,
    Name,
    Pronoun,
)

_NO = DETERMINERS["no"]
_CONTRACTION_DE = re.compile(r"\b(in dem|bei dem|von dem|zu dem|zu der)(?= )")
_CONTRACTED_DE = {"in dem": "im", "bei dem": "beim", "von dem": "vom", "zu dem": "zum", "zu der": "zur"}


def _nominal(nominal: Nominal, case: int, determiner: Determiner | None = None) -> str:
    """The noun phrase in the case, without its relative clause; `determiner` replaces its own."""
    if isinstance(nominal, NounPhrase):
        return _noun_phrase(nominal, case, determiner or nominal.determiner)
    if isinstance(nominal, Pronoun):
        return nominal.de[case]
    if isinstance(nominal, Name):
        return nominal.de
    if isinstance(nominal, Relativised):
        return _nominal(nominal.head, case)
    if isinstance(nominal, Coordination):
        return f"{_nominal(nominal.first, case)} und {_nominal(nominal.second, case)}"
    return ""


def _noun_phrase(phrase: NounPhrase, case: int, determiner: Determiner) -> str:
    gender = PLURAL if phrase.plural else phrase.noun.de_gender
    ending = ADJECTIVE_ENDINGS[determiner.declension][case][gender]
    words = [determiner.de[case][gender], *(adjective.de[1] + ending for adjective in phrase.adjectives)]
    words.append(phrase.noun.de[phrase.plural][case])
    if isinstance(phrase.possessor, Name):
        words[0] = phrase.possessor.de + "s"
    elif phrase.possessor:
        words.append(_nominal(phrase.possessor, GENITIVE))
    if phrase.of:
        words.append(_nominal(phrase.of, GENITIVE))
    if phrase.modifier:
        words.append(_adjunct(phrase.modifier))
    return join(*words)


def _relative(nominal: Nominal | None) -> str:
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
    return f", {RELATIVE_PRONOUN[case][gender]} {_clause(clause, 'final')} ,"


def _adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.de
    return f"{adjunct.preposition.de} {_nominal(adjunct.nominal, adjunct.preposition.case)}"


def _subordinate(subordinate: Subordinate | None) -> str:
    if not subordinate:
        return ""
    conjunction, clause = subordinate
    word = conjunction.de_past if clause.tense == PAST else conjunction.de
    return f", {word} {_clause(clause, 'final')} ,"


def _verb(clause: Clause) -> tuple[str, str, str]:
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


def _middle(clause: Clause) -> str:
    """The middle field: pronouns, persons, definite things, time, other things, "nicht", manner, place."""
    verb, nominal = clause.verb.de, clause.object
    pronoun = early = late = prepositional = indirect = ""
    kein = clause.negated and takes_no(nominal)
    if clause.indirect:
        indirect = _nominal(clause.indirect, DATIVE)
    if nominal:
        text = _nominal(nominal, verb.case, _NO if kein else None)
        if verb.preposition:
            prepositional = f"{verb.preposition} {text}"
        elif isinstance(nominal, Pronoun):
            pronoun = text
        elif is_definite(nominal) and not clause.indirect:
            early = text
        else:
            late = text
    return join(
        pronoun,
        indirect,
        early,
        _adjunct(clause.time) if clause.fronted != "time" else "",
        _adjunct(clause.frequency),
        late,
        "nicht" if clause.negated and not kein else "",
        _adjunct(clause.manner),
        prepositional,
        _adjunct(clause.place) if clause.fronted != "place" else "",
        clause.predicate.de[0] if clause.predicate else "",
    )


def _coordinate(clause: Clause, second: Clause) -> str:
    """The second verb phrase, which shares the auxiliary of the first if it is the same: hat getanzt und gesungen."""
    words = _clause(second, "first")
    auxiliary, _, participle = _verb(second)
    shared = participle and _verb(clause)[0] == auxiliary and _verb(clause)[2]
    return "und " + (words.removeprefix(auxiliary + " ") if shared else words)


def _clause(clause: Clause, order: Literal["second", "first", "final"], front: str = "") -> str:
    """The clause with its finite verb in first, second or final position; relative clauses follow the verbs."""
    finite, prefix, infinite = _verb(clause)
    subject = join(_nominal(clause.subject, NOMINATIVE), _relative(clause.subject))
    middle = _middle(clause)
    after = join(
        _relative(clause.object),
        _subordinate(clause.complement),
        _subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
        _coordinate(clause, clause.coordinate) if clause.coordinate else "",
    )
    if order == "final":
        return join(subject, middle, infinite, prefix + finite, after)
    if clause.fronted == "adverbial":
        front = _subordinate(clause.adverbial)
    elif clause.fronted:
        front = _adjunct(clause.time if clause.fronted == "time" else clause.place)
    if order == "second" and not front:
        return join(subject, finite, middle, prefix + infinite, after)
    return join(front, finite, subject, middle, prefix + infinite, after)


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
        words = _clause(sentence.clause, "first", word) + " ?"
    else:
        words = _clause(sentence.clause, "second")
        if sentence.second and sentence.conjunction:
            words = f"{words} {sentence.conjunction.de} {_clause(sentence.second, 'second')}"
        words += " ."
    words = _CONTRACTION_DE.sub(lambda match: _CONTRACTED_DE[match[1]], words)
    return finish(words).replace(" ?", "?")
