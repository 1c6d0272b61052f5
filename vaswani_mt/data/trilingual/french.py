"""How French says a clause."""

import re

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
    is_never,
    join,
    takes_no,
)
from .lexicon import DETERMINERS, FUTURE, PRESENT, Adverb, Determiner, Name, Pronoun

_NO = DETERMINERS["no"]
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


def _nominal(nominal: Nominal | None, determiner: Determiner | None = None) -> str:
    """The noun phrase with its relative clause; of a pronoun, the subject form."""
    if isinstance(nominal, NounPhrase):
        return _noun_phrase(nominal, determiner or nominal.determiner)
    if isinstance(nominal, Pronoun | Name):
        return nominal.fr if isinstance(nominal, Name) else nominal.fr[0]
    if isinstance(nominal, Relativised):
        pronoun = "qui" if isinstance(nominal.clause.subject, Gap) else "que"
        relative = f"{pronoun} {_clause(nominal.clause)}"
        return f"{_nominal(nominal.head)} {relative if nominal.restrictive else f', {relative} ,'}"
    if isinstance(nominal, Coordination):
        return f"{_nominal(nominal.first)} et {_nominal(nominal.second)}"
    return ""


def _governed(preposition: str, nominal: Nominal, determiner: Determiner | None = None) -> str:
    """The object after its preposition ("" for none), which French repeats in a coordination."""
    if isinstance(nominal, Coordination):
        first, second = (_governed(preposition, part) for part in (nominal.first, nominal.second))
        return f"{first} et {second}"
    return join(preposition, _nominal(nominal, determiner))


def _noun_phrase(phrase: NounPhrase, determiner: Determiner) -> str:
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
    return join(
        article,
        *before,
        noun,
        *after,
        f"de {_nominal(possessor)}" if possessor else "",
        _adjunct(phrase.modifier),
    )


def _adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.fr
    return f"{adjunct.preposition.fr} {_nominal(adjunct.nominal)}"


def _subordinate(subordinate: Subordinate | None) -> str:
    return f"{subordinate.conjunction.fr} {_clause(subordinate.clause)}" if subordinate else ""


def _verb(clause: Clause) -> tuple[str, str]:
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


def _clause(clause: Clause) -> str:
    verb, nominal = clause.verb.fr, clause.object
    never = is_never(clause.frequency)
    negative = clause.negated or never
    finite, infinite = _verb(clause)
    clitic = obj = ""
    if isinstance(nominal, Pronoun):
        clitic = nominal.fr[2 if verb.preposition else 1]
    elif nominal:
        obj = _governed(verb.preposition, nominal, _NO if negative and takes_no(nominal) else None)
    indirect = ""
    if isinstance(clause.indirect, Pronoun):
        clitic = clause.indirect.fr[2]
    elif clause.indirect:
        indirect = _governed("à", clause.indirect)
    # A person follows the thing given, unless a relative clause makes that too long.
    objects = (indirect, obj) if isinstance(nominal, Relativised) else (obj, indirect)
    front = {"time": clause.time, "place": clause.place}.get(clause.fronted)
    front_words = _subordinate(clause.adverbial) if clause.fronted == "adverbial" else _adjunct(front)
    return join(
        front_words and front_words + " ,",
        _nominal(clause.subject),
        "ne" if negative else "",
        clitic if not clause.modal else "",
        finite,
        "pas" if clause.negated else _adjunct(clause.frequency),
        clitic if clause.modal else "",
        infinite,
        _adjunct(clause.manner),
        *objects,
        clause.predicate.fr[clause.subject.plural][clause.subject.feminine] if clause.predicate else "",
        _adjunct(clause.place) if clause.fronted != "place" else "",
        _adjunct(clause.time) if clause.fronted != "time" else "",
        _subordinate(clause.complement),
        _subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
        f"et {_clause(clause.coordinate)}" if clause.coordinate else "",
    )


def french(sentence: Sentence) -> str:
    """The sentence in French.

    Args:
        sentence: what is said.

    Returns:
        The French text as one would write it, with elisions and contractions, and a space before "?".
    """
    words = _clause(sentence.clause)
    if sentence.is_question:
        word = sentence.question_word.fr if sentence.question_word else ""
        is_subject = isinstance(sentence.clause.subject, Gap)
        words = join(word, "" if is_subject else "est-ce que", words, "?")
    elif sentence.second and sentence.conjunction:
        words = f"{words} {sentence.conjunction.fr} {_clause(sentence.second)} ."
    else:
        words += " ."
    words = _ELISION_FR.sub(lambda match: _ELIDED_FR.get(match[1], match[1][:-1] + "'"), words)
    words = _CONTRACTION_FR.sub(lambda match: _CONTRACTED_FR[match[0]], words)
    return finish(words)
