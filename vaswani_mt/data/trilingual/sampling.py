"""Drawing sentences at random, so that the English of each one tells all that was drawn."""

import random
from collections.abc import Sequence
from typing import TypeVar

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
    is_definite,
    is_never,
)
from .lexicon import (
    ADJECTIVES,
    ADVERBS,
    CITIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUTURE,
    MODALS,
    NOUNS,
    NOUNS_OF_KIND,
    PAST,
    PEOPLE,
    PL1,
    PL2,
    PL3,
    PREPOSITIONS,
    PRESENT,
    PRONOUNS,
    QUESTION_WORDS,
    SG1,
    SG3,
    VERBS,
    VERBS_OF_FRAME,
    Adjective,
    Determiner,
    Name,
    Noun,
    Verb,
)

_T = TypeVar("_T")


# How deep a clause lies decides how much it may carry; relative clauses nest to a depth of `_DEEPEST`.
_MAIN, _SUBORDINATE, _RELATIVE, _DEEPEST = range(4)
_CHANCE_OF_RELATIVE = (0.14, 0.08, 0.05, 0.0)

_Determiners = tuple[tuple[Determiner, ...], tuple[Determiner, ...]]


def _determiners(weights: str) -> tuple[Determiner, ...]:
    """Each determiner as often as its weight says, so that a uniform choice is a weighted one."""
    weighted = (part.split("*") for part in weights.split())
    return tuple(DETERMINERS[key] for key, weight in weighted for _ in range(int(weight)))


_POSSESSIVES = "my*2 his*2 her*2 our*1 your*1"
_PLURALS = f"the*9 this*2 some*2 many*2 two*1 three*1 four*1 five*1 ten*1 {_POSSESSIVES}"
# Determiners for the (singular, plural)
_ANY: _Determiners = (_determiners(f"the*18 a*10 this*3 every*1 {_POSSESSIVES}"), _determiners(_PLURALS))
_ANY_OR_BARE: _Determiners = (_ANY[0], _determiners(f"{_PLURALS} bare*4"))
_DEFINITE: _Determiners = (_determiners(f"the*14 this*3 {_POSSESSIVES}"),) * 2
_DEMONSTRATIVE: _Determiners = (_determiners("the*3 this*1"),) * 2
_INDEFINITE: _Determiners = (_determiners("a*1"), _determiners("bare*1"))

_SUBJECT_PRONOUNS = tuple(PRONOUNS[word] for word in ("I", "he", "she", "we", "you", "he", "she"))
# By the slot of the subject: "I see me" and "we see me" would be reflexive.
_OBJECT_PRONOUNS_OF = {
    slot: tuple(PRONOUNS[word] for word in words.split())
    for slot, words in {
        SG1: "he she you they",
        SG3: "I he she we you they",
        PL1: "he she you they",
        PL2: "I he she we they",
        PL3: "I he she we you they",
    }.items()
}
# Those whose gender French can tell, and with it the ending of a participle
_GENDERED_PRONOUNS = (PRONOUNS["he"], PRONOUNS["she"])
_NEGATABLE_MODALS = tuple(modal for modal in MODALS if modal.en[0] in ("should", "want"))

_ADJECTIVES_OF = {
    noun.en[0]: tuple(adjective for adjective in ADJECTIVES if adjective.kinds & noun.kinds) for noun in NOUNS
}
_ADJECTIVES_OF_PERSONS = tuple(adjective for adjective in ADJECTIVES if "person" in adjective.kinds)
_DESCRIBABLE_KINDS = ("person", "person", "animal", "thing", "thing", "food", "event")

_FRAMES_WITH_PLACE = ("intransitive",) * 5 + ("transitive",) * 9
_FRAMES = _FRAMES_WITH_PLACE + ("ditransitive",) * 2 + ("to",) * 2
_ACTIONS = tuple(verb for verb in VERBS if verb.frame in _FRAMES)
_ANIMAL_ACTIONS = tuple(verb for verb in _ACTIONS if verb.subject == "animate")
_EVENTS = tuple(verb for verb in _ACTIONS if "event" in verb.flags)
_STATES = tuple(verb for verb in VERBS_OF_FRAME["intransitive"] if "event" not in verb.flags)
_BE = VERBS_OF_FRAME["predicative"][0]
# Verbs whose object is direct, so that it can be asked for and relativised in all three languages
_DIRECT = tuple(verb for verb in VERBS_OF_FRAME["transitive"] if verb.is_direct)

_PLACES = ("inside", "inside", "landmark")
_PLACES_TO_REST = (*_PLACES, "surface", "under")
_TIMES = {PRESENT: ADVERBS["present"], PAST: ADVERBS["past"], FUTURE: ADVERBS["future"]}


def _is_negatable(subject: Nominal) -> bool:
    """Not every subject is: with "every", it is open what "not" negates."""
    if isinstance(subject, Relativised):
        subject = subject.head
    return not isinstance(subject, NounPhrase) or subject.determiner is not DETERMINERS["every"]


def _predicates(nominal: Nominal) -> tuple[Adjective, ...]:
    """What one can say of it without repeating or contradicting what the noun phrase itself says."""
    if isinstance(nominal, Coordination):
        first, second = _predicates(nominal.first), _predicates(nominal.second)
        return tuple(adjective for adjective in first if adjective in second)
    said: list[Adjective] = []
    if isinstance(nominal, Relativised):
        if nominal.clause.predicate:
            said.append(nominal.clause.predicate)
        nominal = nominal.head
    if not isinstance(nominal, NounPhrase):
        return tuple(adjective for adjective in _ADJECTIVES_OF_PERSONS if adjective not in said)
    said.extend(nominal.adjectives)
    return tuple(
        adjective
        for adjective in _ADJECTIVES_OF[nominal.noun.en[0]]
        if all(adjective is not other and (not other.trait or adjective.trait != other.trait) for other in said)
    )


class Sampler:
    """Draws sentences; every method draws one thing, and its arguments narrow down what it may be."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"grammar {seed}").random
        self._used: set[str] = set()  # the nouns and names of the sentence, by their English

    def _pick(self, items: Sequence[_T]) -> _T:
        return items[int(self._random() * len(items))]

    def _chance(self, probability: float) -> bool:
        return self._random() < probability

    # Noun phrases

    def _noun(self, kind: str) -> Noun:
        """A noun of the kind, rather not one that the sentence has already."""
        for _ in range(3):
            noun = self._pick(NOUNS_OF_KIND[kind])
            if noun.en[0] not in self._used:
                break
        self._used.add(noun.en[0])
        return noun

    def _name(self) -> Name:
        for _ in range(3):
            name = self._pick(PEOPLE)
            if name.en not in self._used:
                break
        self._used.add(name.en)
        return name

    def _adjectives(self, noun: Noun) -> tuple[Adjective, ...]:
        fitting = _ADJECTIVES_OF[noun.en[0]]
        if not fitting or not self._chance(0.33):
            return ()
        first = self._pick(fitting)
        if first.before and self._chance(0.3):
            # English says first what French puts before the noun: the small red house, la petite maison rouge.
            second = self._pick(fitting)
            if not second.before:
                return (first, second)
        return (first,)

    def _noun_phrase(self, kind: str, determiners: _Determiners = _ANY, bare_noun: bool = False) -> NounPhrase:
        """A noun of the kind with determiner and adjectives, and unless `bare_noun` sometimes with a genitive."""
        noun = self._noun(kind)
        plural = bool(noun.en[1]) and self._chance(0.3)
        phrase = NounPhrase(noun, plural, self._pick(determiners[plural]), self._adjectives(noun))
        if bare_noun or determiners is _INDEFINITE:
            return phrase
        if "part" in noun.kinds and self._chance(0.4):
            phrase.determiner = DETERMINERS["the"]
            phrase.of = NounPhrase(self._noun("building"), False, self._pick(_DEFINITE[0]))
        elif noun.kinds & {"goods", "machine", "kin", "animal"} and self._chance(0.1):
            if self._chance(0.5):
                phrase.possessor, phrase.determiner = self._name(), DETERMINERS["possessed"]
            else:
                phrase.possessor = NounPhrase(self._noun("person"), False, self._pick(_DEFINITE[0]))
                phrase.determiner = DETERMINERS["the"]
        return phrase

    def _simple_nominal(self, kind: str, determiners: _Determiners = _ANY) -> NounPhrase | Name:
        if kind in ("person", "animate") and self._chance(0.25):
            return self._name()
        return self._noun_phrase(kind, determiners, bare_noun=True)

    def _nominal(
        self, kind: str, depth: int, determiners: _Determiners = _ANY, relative: bool = True, modifier: bool = False
    ) -> Nominal:
        """A noun phrase, a name or two of them, sometimes with a relative clause or (`modifier`) a phrase of place."""
        if (determiners is _ANY or determiners is _ANY_OR_BARE) and self._chance(0.06):
            return Coordination(self._simple_nominal(kind), self._simple_nominal(kind))
        if kind in ("person", "animate") and self._chance(0.2):
            head: NounPhrase | Name = self._name()
        else:
            head = self._noun_phrase(kind, determiners)
        if isinstance(head, NounPhrase) and (head.possessor or head.of):
            return head
        if relative and self._chance(_CHANCE_OF_RELATIVE[depth]):
            return self._relativised(head, depth)
        if modifier and isinstance(head, NounPhrase) and self._chance(0.12):
            with_thing = PrepositionalPhrase(PREPOSITIONS["with"][0], self._noun_phrase("goods", bare_noun=True))
            head.modifier = with_thing if self._chance(0.4) else self._location()
        return head

    def _relativised(self, head: NounPhrase | Name, depth: int) -> Nominal:
        """The head with a relative clause in which it is the subject or the object, or the head if none fits."""
        depth = max(_RELATIVE, min(depth + 1, _DEEPEST))
        gap = Gap(head.slot, head.plural, head.feminine)
        tense = self._pick((PRESENT, PRESENT, PAST))
        kinds = head.noun.kinds if isinstance(head, NounPhrase) else frozenset({"person", "animate"})
        adjectives = _predicates(head)
        governing = tuple(verb for verb in _DIRECT if not kinds.isdisjoint(verb.objects))
        if "animate" in kinds and self._chance(0.6):
            actions = _ACTIONS if "person" in kinds else _ANIMAL_ACTIONS
            clause = self._action(depth, tense, gap, actions)
        elif governing and self._chance(0.8):
            verb = self._verb(governing, tense)
            clause = Clause(verb, self._subject(verb, depth, tense), tense, object=gap)
            clause.negated = _is_negatable(clause.subject) and self._chance(0.1)
        elif adjectives:
            clause = Clause(_BE, gap, tense, predicate=self._pick(adjectives))
        else:
            return head
        free = isinstance(head, Name) or (head.determiner.definite and self._chance(0.3))
        return Relativised(head, clause, restrictive=not free)

    def _location(self, uses: Sequence[str] = _PLACES) -> PrepositionalPhrase:
        if self._chance(0.12):
            return PrepositionalPhrase(PREPOSITIONS["in city"][0], self._pick(CITIES))
        use = self._pick(uses)
        return PrepositionalPhrase(self._pick(PREPOSITIONS[use]), self._noun_phrase(use, bare_noun=True))

    # Clauses

    def _verb(self, verbs: Sequence[Verb], tense: int) -> Verb:
        while True:
            verb = self._pick(verbs)
            if tense != PAST or "stative" not in verb.flags or verb.de.past:
                return verb

    def _subject(self, verb: Verb, depth: int, tense: int) -> Nominal:
        if self._chance(0.22):
            return self._pick(_GENDERED_PRONOUNS if verb.fr.etre and tense == PAST else _SUBJECT_PRONOUNS)
        return self._nominal(verb.subject, depth, modifier=depth < _RELATIVE)

    def _clause(self, depth: int, tense: int, asked: bool = False) -> Clause:
        """Any clause: an action, a description or the weather; one that is `asked` is not negated."""
        roll = self._random()
        if roll < 0.03:
            clause = Clause(self._pick(VERBS_OF_FRAME["it"]), PRONOUNS["it"], tense)
            clause.negated = not asked and self._chance(0.14)
            self._add_time(clause, depth)
            return clause
        if roll < 0.17:
            return self._description(depth, tense, asked)
        return self._event(depth, tense, VERBS_OF_FRAME[self._pick(_FRAMES)], asked)

    def _event(self, depth: int, tense: int, verbs: Sequence[Verb], asked: bool = False) -> Clause:
        """An action with a subject that the verb takes."""
        verb = self._verb(verbs, tense)
        return self._action(depth, tense, self._subject(verb, depth, tense), (verb,), asked=asked)

    def _description(self, depth: int, tense: int, asked: bool) -> Clause:
        subject: Nominal = self._pick(_GENDERED_PRONOUNS)
        if self._chance(0.8):
            subject = self._nominal(self._pick(_DESCRIBABLE_KINDS), depth)
        adjectives = _predicates(subject)
        if not adjectives:
            return self._description(depth, tense, asked)
        predicate = self._pick(adjectives)
        clause = Clause(_BE, subject, tense, predicate=predicate)
        clause.negated = not asked and _is_negatable(subject) and self._chance(0.14)
        if predicate.trait == "state":
            if not clause.negated and tense != FUTURE and self._chance(0.15):
                clause.frequency = self._pick(ADVERBS["frequency"])
            self._add_time(clause, depth)
        elif tense == FUTURE:
            clause.tense = PRESENT
        return clause

    def _action(
        self,
        depth: int,
        tense: int,
        subject: Nominal,
        verbs: Sequence[Verb],
        asked: bool = False,
        plain: bool = False,
    ) -> Clause:
        """What the subject does: one of the verbs with all it takes; `plain` omits what no second verb follows."""
        clause = Clause(self._verb(verbs, tense), subject, tense)
        if tense == PRESENT and depth < _RELATIVE and not plain and self._chance(0.25):
            clause.modal = self._pick(MODALS)
        if not plain:
            if not asked and _is_negatable(subject) and (not clause.modal or clause.modal in _NEGATABLE_MODALS):
                clause.negated = self._chance(0.14)
            repeatable = tense != FUTURE and not clause.modal and "stative" not in clause.verb.flags
            if not clause.negated and repeatable and self._chance(0.1):
                clause.frequency = self._pick(ADVERBS["frequency"])
        self._add_objects(clause, depth, relative=not plain)
        self._add_adjuncts(clause, depth)
        if not plain and "stative" not in clause.verb.flags:
            self._add_time(clause, depth)
        return clause

    def _add_objects(self, clause: Clause, depth: int, relative: bool) -> None:
        verb = clause.verb
        negative = clause.negated or is_never(clause.frequency)
        pronouns = _OBJECT_PRONOUNS_OF[clause.subject.slot]
        if verb.frame == "ditransitive":
            determiners = _DEFINITE if negative else _ANY
            if self._chance(0.3):
                clause.indirect = self._pick(pronouns)
            else:
                clause.indirect = self._nominal("person", depth, determiners, relative=False)
        if not verb.objects:
            return
        kind = self._pick(verb.objects)
        if kind == "person" and verb.fr.preposition != "de" and self._chance(0.2):
            agrees = clause.tense == PAST and not verb.fr.preposition
            clause.object = self._pick(_GENDERED_PRONOUNS if agrees else pronouns)
            return
        determiners = _ANY_OR_BARE if verb.is_direct and kind != "person" else _ANY
        if negative:
            determiners = _DEFINITE
            if verb.is_direct and kind not in ("person", "animal") and self._chance(0.6):
                determiners, relative = _INDEFINITE, False
        clause.object = self._nominal(kind, depth, determiners, relative)

    def _add_adjuncts(self, clause: Clause, depth: int) -> None:
        """Manner and place; nothing follows a relative clause, which would claim it."""
        verb, flags, nominal = clause.verb, clause.verb.flags, clause.object
        if verb.frame == "to":
            if self._chance(0.25):
                clause.place = PrepositionalPhrase(PREPOSITIONS["to city"][0], self._pick(CITIES))
            else:
                clause.place = PrepositionalPhrase(PREPOSITIONS["goal"][0], self._noun_phrase("goal", bare_noun=True))
        if isinstance(nominal, Relativised) or verb.preposition or verb.frame not in ("intransitive", "transitive"):
            return
        if (nominal is None or is_definite(nominal)) and not clause.frequency and self._chance(0.25):
            adverbs = [adverb for flag in ("voice", "motion", "joy") if flag in flags for adverb in ADVERBS[flag]]
            clause.manner = self._pick(adverbs) if adverbs else None
        if "stative" in flags or (clause.negated and nominal):
            return
        if "for" in flags and self._chance(0.25):
            clause.place = PrepositionalPhrase(PREPOSITIONS["for"][0], self._simple_nominal("person"))
        elif nominal is None and self._chance(0.12):
            together, alone = PREPOSITIONS["with"]
            preposition = alone if not clause.negated and self._chance(0.4) else together
            determiners = _DEFINITE if preposition is alone else _ANY
            clause.place = PrepositionalPhrase(preposition, self._simple_nominal("animate", determiners))
        elif self._chance(0.2 if nominal else 0.4):
            clause.place = self._location(_PLACES if nominal or "event" in flags else _PLACES_TO_REST)
            if depth == _MAIN and self._chance(0.25):
                clause.fronted = "place"

    def _add_time(self, clause: Clause, depth: int) -> None:
        heavy = isinstance(clause.object, Relativised)
        if clause.frequency or depth >= _RELATIVE or (heavy and depth != _MAIN):
            return
        if not self._chance(0.33 if depth == _MAIN else 0.15):
            return
        if self._chance(0.25):
            use = self._pick(("event", "event", "weather"))
            determiners = _DEMONSTRATIVE if use == "weather" else _DEFINITE
            nominal = self._noun_phrase(use, determiners, bare_noun=True)
            clause.time = PrepositionalPhrase(self._pick(PREPOSITIONS[use]), nominal)
        else:
            habitual = clause.tense == PRESENT and not clause.negated and not clause.modal
            clause.time = self._pick(_TIMES[clause.tense] + (ADVERBS["habit"] if habitual else ()))
        if heavy or (depth == _MAIN and not clause.fronted and self._chance(0.45)):
            clause.fronted = "time"

    # Sentences

    def _tense(self) -> int:
        return self._pick((PRESENT,) * 9 + (PAST,) * 7 + (FUTURE,) * 4)

    def _with_adverbial(self) -> Sentence:
        """A statement with a clause of reason, time or condition before or after it."""
        word = self._pick(("because", "because", "when", "if", "while"))
        tense = PRESENT
        if word == "because" or word == "when":
            tense = self._pick((PRESENT, PAST))
        if word == "when" and tense == PAST:
            clause = self._event(_SUBORDINATE, tense, _EVENTS, asked=True)
        elif word == "while":
            clause = self._event(_SUBORDINATE, tense, _STATES, asked=True)
        else:
            clause = self._clause(_SUBORDINATE, tense)
        if word != "because":
            clause.modal = None  # French has no conditional ("should") after "si", nor sense after "quand"
        if tense == PRESENT and word in ("because", "if") and self._chance(0.4):
            tense = FUTURE
        if word == "because":
            main = self._clause(_MAIN, tense)
        else:
            main = self._event(_MAIN, tense, VERBS_OF_FRAME[self._pick(_FRAMES)])
        main.adverbial = Subordinate(CONJUNCTIONS[word], clause)
        if isinstance(main.object, Relativised) or self._chance(0.45):
            main.fronted = "adverbial"
            if isinstance(main.object, Relativised):
                main.time = None
        return Sentence(main)

    def _with_complement(self) -> Sentence:
        """A statement that somebody says, knows, hopes ... that something is so."""
        verb = self._pick(VERBS_OF_FRAME["that"] + VERBS_OF_FRAME["whether"])
        main = Clause(verb, self._subject(verb, _SUBORDINATE, PRESENT))
        if self._chance(0.1):
            main.frequency = self._pick(ADVERBS["frequency"][:3])
        tense = self._pick((PRESENT, FUTURE)) if "open" in verb.flags else self._tense()
        main.complement = Subordinate(CONJUNCTIONS[verb.frame], self._clause(_SUBORDINATE, tense))
        return Sentence(main)

    def _with_two_verb_phrases(self) -> Sentence:
        tense = self._pick((PRESENT, PAST))
        subject = self._pick(_GENDERED_PRONOUNS) if self._chance(0.2) else self._nominal("person", _MAIN)
        verb, second = self._verb(_ACTIONS, tense), self._verb(_ACTIONS, tense)
        clause = self._action(_SUBORDINATE, tense, subject, (verb,), plain=True)
        gap = Gap(subject.slot, subject.plural, subject.feminine)
        clause.coordinate = self._action(_SUBORDINATE, tense, gap, (second,), asked=True)
        clause.coordinate.frequency = clause.coordinate.modal = None
        return Sentence(clause)

    def _two_statements(self) -> Sentence:
        tense = self._tense()
        conjunction = CONJUNCTIONS[self._pick(("and", "but"))]
        first, second = self._clause(_MAIN, tense), self._clause(_SUBORDINATE, tense)
        return Sentence(first, conjunction=conjunction, second=second)

    def _question(self) -> Sentence:
        return Sentence(self._clause(_SUBORDINATE, self._tense(), asked=True), is_question=True)

    def _open_question(self) -> Sentence:
        """A question for the subject, the object, the place, the time or the reason."""
        asks_for = self._pick(("subject", "object", "object", "place", "time", "reason"))
        tense = self._tense()
        if asks_for == "object":
            verb = self._verb(_DIRECT, tense)
            kinds = [kind for kind in verb.objects if kind != "animal"]
            asks_for = "person" if self._pick(kinds or ["animal"]) == "person" else "thing"
            clause = Clause(verb, self._subject(verb, _SUBORDINATE, tense), tense, object=Gap())
            if "stative" not in verb.flags:
                self._add_time(clause, _SUBORDINATE)
        else:
            frame = self._pick(_FRAMES_WITH_PLACE if asks_for == "place" else _FRAMES)
            verb = self._pick([verb for verb in VERBS_OF_FRAME[frame] if "stative" not in verb.flags])
            subject = Gap() if asks_for == "subject" else self._subject(verb, _SUBORDINATE, tense)
            clause = self._action(_SUBORDINATE, tense, subject, (verb,), asked=True)
            if asks_for in ("place", "time"):
                clause.frequency = None
            if asks_for == "place":
                clause.place = None
            elif asks_for == "time":
                clause.time = None
        return Sentence(clause, is_question=True, question_word=QUESTION_WORDS[asks_for])

    def sentence(self) -> Sentence:
        """Any sentence."""
        self._used.clear()
        roll = self._random()
        if roll < 0.40:
            return Sentence(self._clause(_MAIN, self._tense()))
        if roll < 0.55:
            return self._with_adverbial()
        if roll < 0.67:
            return self._with_complement()
        if roll < 0.75:
            return self._two_statements()
        if roll < 0.83:
            return self._with_two_verb_phrases()
        return self._question() if roll < 0.91 else self._open_question()
