"""How English says a clause: as a Penn Treebank tree, whose leaves are the sentence."""

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
    join,
)
from .lexicon import FUTURE, PAST, SG3, Adverb, Name, Pronoun

_BE = (("VBP", "am"), ("VBZ", "is"), ("VBP", "are"), ("VBP", "are"), ("VBP", "are"))
_WERE = (("VBD", "was"), ("VBD", "was"), ("VBD", "were"), ("VBD", "were"), ("VBD", "were"))
_DO = ("do", "does", "did")
# The comma that closes a relative clause, where another comma or the final stop follows
_NO_COMMA = re.compile(r" \(, ,\)(?=\)* \([,.] )")
_FIRST_LEAF = re.compile(r" (\w)(?=[^\s()]*\))")


def _finite(forms: tuple[str, ...], slot: int, past: bool) -> str:
    if past:
        return f"(VBD {forms[2]})"
    return f"(VBZ {forms[1]})" if slot == SG3 else f"(VBP {forms[0]})"


def _nominal(nominal: Nominal, is_object: bool = False) -> str:
    if isinstance(nominal, NounPhrase):
        return _noun_phrase(nominal)
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
        sbar = f"(SBAR (WHNP {word}) (S {_clause(clause)}))"
        head = _nominal(nominal.head)
        return f"(NP {head} {sbar})" if nominal.restrictive else f"(NP {head} (, ,) {sbar} (, ,))"
    if isinstance(nominal, Coordination):
        return f"(NP {_nominal(nominal.first)} (CC and) {_nominal(nominal.second)})"
    return ""


def _noun_phrase(phrase: NounPhrase) -> str:
    noun = phrase.noun.en[phrase.plural]
    words = [f"(JJ {adjective.en})" for adjective in phrase.adjectives]
    if phrase.possessor:
        words.insert(0, f"{_nominal(phrase.possessor)[:-1]} (POS 's))")
    elif determiner := phrase.determiner.en[phrase.plural]:
        if determiner == "a" and (phrase.adjectives[0].en if phrase.adjectives else noun)[0] in "aeiou":
            determiner = "an"
        words.insert(0, f"({phrase.determiner.en[2]} {determiner})")
    words.append(f"({'NNS' if phrase.plural else 'NN'} {noun})")
    tree = f"(NP {' '.join(words)})"
    if phrase.of:
        tree = f"(NP {tree} (PP (IN of) {_noun_phrase(phrase.of)}))"
    if phrase.modifier:
        tree = f"(NP {tree} {_adjunct(phrase.modifier)})"
    return tree


def _adjunct(adjunct: Adverb | PrepositionalPhrase | None) -> str:
    if adjunct is None:
        return ""
    if isinstance(adjunct, Adverb):
        return adjunct.en
    return adjunct.preposition.en.format(_nominal(adjunct.nominal))


def _subordinate(subordinate: Subordinate | None) -> str:
    return f"(SBAR {subordinate.conjunction.en} (S {_clause(subordinate.clause)}))" if subordinate else ""


def _arguments(clause: Clause) -> str:
    """What follows the last verb of the clause."""
    verb = clause.verb
    nominal = _nominal(clause.object, is_object=True) if clause.object else ""
    if verb.preposition:
        nominal = f"(PP ({'TO' if verb.preposition == 'to' else 'IN'} {verb.preposition}) {nominal})"
    return join(
        _nominal(clause.indirect, is_object=True) if clause.indirect else "",
        nominal,
        f"(ADJP (JJ {clause.predicate.en}))" if clause.predicate else "",
        _adjunct(clause.manner),
        _adjunct(clause.place) if clause.fronted != "place" else "",
        _adjunct(clause.time) if clause.fronted != "time" else "",
        _subordinate(clause.complement),
        _subordinate(clause.adverbial) if clause.fronted != "adverbial" else "",
    )


def _verb_phrase(clause: Clause, inverted: bool = False) -> tuple[str, str]:
    """The auxiliary if it is inverted, else "", and the rest of the verb phrase."""
    slot, past = clause.subject.slot, clause.tense == PAST
    forms: tuple[str, ...] = clause.verb.en
    arguments = _arguments(clause)
    negation = "(RB not)" if clause.negated else ""
    auxiliary = ""
    if clause.tense == FUTURE:
        auxiliary = "(MD will)"
    elif clause.modal and clause.modal.tag == "MD":
        auxiliary = f"(MD {clause.modal.en[0]})"
    elif clause.modal:
        forms, arguments = clause.modal.en, f"(S (VP (TO to) (VP (VB {forms[0]}) {arguments})))"
    if clause.predicate:
        adverb = _adjunct(clause.frequency)
        if not auxiliary:
            tag, form = (_WERE if past else _BE)[slot]
            finite, rest = f"({tag} {form})", join(negation, adverb, arguments)
            return (finite, rest) if inverted else ("", f"(VP {finite} {rest})")
    if not auxiliary and (negation or inverted):
        auxiliary = _finite(_DO, slot, past)
    if not auxiliary:
        return "", f"(VP {join(_finite(forms, slot, past), arguments)})"
    infinitive = f"(VP {join(f'(VB {forms[0]})', arguments)})"
    return (auxiliary, infinitive) if inverted else ("", f"(VP {join(auxiliary, negation, infinitive)})")


def _clause(clause: Clause, inverted: bool = False) -> str:
    """The constituents of the clause's S (or SQ, if inverted)."""
    front = {"time": clause.time, "place": clause.place}.get(clause.fronted)
    front_tree = _subordinate(clause.adverbial) if clause.fronted == "adverbial" else _adjunct(front)
    auxiliary, verb_phrase = _verb_phrase(clause, inverted)
    if clause.coordinate:
        verb_phrase = f"(VP {verb_phrase} (CC and) {_verb_phrase(clause.coordinate)[1]})"
    return join(
        front_tree and front_tree + " (, ,)",
        auxiliary,
        _nominal(clause.subject),
        "" if clause.predicate else _adjunct(clause.frequency),
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
        first, second = (f"(S {_clause(part)})" for part in (clause, sentence.second))
        tree = f"(TOP (S {first} (, ,) {sentence.conjunction.en} {second} (. .)))"
    elif not sentence.is_question:
        tree = f"(TOP (S {_clause(clause)} (. .)))"
    elif not word:
        tree = f"(TOP (SQ {_clause(clause, inverted=True)} (. ?)))"
    else:
        tree = f"(TOP (SBARQ {word.en} (SQ {_clause(clause, inverted=not isinstance(clause.subject, Gap))}) (. ?)))"
    return _FIRST_LEAF.sub(lambda leaf: " " + leaf[1].upper(), _NO_COMMA.sub("", tree), count=1)
