from collections import Counter

import pytest

from vaswani_mt.data.trilingual import lexicon
from vaswani_mt.data.trilingual.lexicon import ADJECTIVES, NOUNS, PL1, PL2, PL3, SG1, SG3, VERBS

VERB = {(verb.en[0], verb.frame): verb for verb in VERBS}


def test_english_past_differs_from_present():
    assert [verb.en for verb in VERBS if verb.en[2] in verb.en[:2]] == []


def test_english_forms_of_different_words_do_not_coincide():
    nouns = Counter(form for noun in NOUNS for form in noun.en if form)
    adjectives = Counter(adjective.en for adjective in ADJECTIVES)
    assert max((nouns + adjectives).values()) == 1


def test_verb_has_one_translation_for_each_construction():
    constructions = Counter((verb.en[0], verb.preposition, verb.frame) for verb in VERBS)
    assert max(constructions.values()) == 1


def test_forms_are_complete():
    for noun in NOUNS:
        assert noun.en[0]
        assert all(noun.de[0])
        assert noun.fr[0]
        assert bool(noun.en[1]) == all(noun.de[1]) == bool(noun.fr[1])
    for verb in VERBS:
        assert len(verb.de.present) == len(verb.fr.present) == len(verb.fr.future) == 5


@pytest.mark.parametrize(
    ("base", "frame", "third", "past"),
    [
        ("cry", "intransitive", "cries", "cried"),
        ("stay", "intransitive", "stays", "stayed"),
        ("go", "to", "goes", "went"),
        ("arrive", "intransitive", "arrives", "arrived"),
        ("have", "transitive", "has", "had"),
    ],
)
def test_english_conjugation(base, frame, third, past):
    assert VERB[base, frame].en == (base, third, past)


@pytest.mark.parametrize(
    ("base", "frame", "i", "he", "we", "participle"),
    [
        ("sleep", "intransitive", "schlafe", "schläft", "schlafen", "geschlafen"),
        ("work", "intransitive", "arbeite", "arbeitet", "arbeiten", "gearbeitet"),
        ("admire", "transitive", "bewundere", "bewundert", "bewundern", "bewundert"),
        ("know", "that", "weiß", "weiß", "wissen", "gewusst"),
        ("have", "transitive", "habe", "hat", "haben", "gehabt"),
        ("be", "predicative", "bin", "ist", "sind", "gewesen"),
        ("call", "transitive", "rufe", "ruft", "rufen", "angerufen"),
    ],
)
def test_german_conjugation(base, frame, i, he, we, participle):
    verb = VERB[base, frame].de
    assert [verb.present[slot] for slot in (SG1, SG3, PL1, PL2, PL3)] == [i, he, we, we, we]
    assert verb.participle == participle


@pytest.mark.parametrize(
    ("base", "frame", "present", "participle", "future"),
    [
        ("sing", "intransitive", "chante chante chantons chantez chantent", "chanté", "chanterons"),
        ("sell", "transitive", "vends vend vendons vendez vendent", "vendu", "vendrons"),
        ("eat", "transitive", "mange mange mangeons mangez mangent", "mangé", "mangerons"),
        ("buy", "transitive", "achète achète achetons achetez achètent", "acheté", "achèterons"),
        ("send", "ditransitive", "envoie envoie envoyons envoyez envoient", "envoyé", "enverrons"),
        ("come", "to", "viens vient venons venez viennent", "venu", "viendrons"),
        ("paint", "transitive", "peins peint peignons peignez peignent", "peint", "peindrons"),
        ("say", "that", "dis dit disons dites disent", "dit", "dirons"),
    ],
)
def test_french_conjugation(base, frame, present, participle, future):
    verb = VERB[base, frame].fr
    assert " ".join(verb.present) == present
    assert (verb.participle, verb.future[PL1]) == (participle, future)


def test_row_with_a_missing_column_is_named():
    with pytest.raises(ValueError, match=r"'dog \| der Hund -es Hunde \| m chien': expected 4 columns, found 3"):
        list(lexicon._rows("dog | der Hund -es Hunde | m chien", 4))
