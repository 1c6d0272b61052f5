import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import accumulate, islice

import pytest

from vaswani_mt.data.grammar import Quadruple, detokenise, generate, leaves, splits

# Patterns of what must occur; the German and the French of the same construction must occur with it.
CONSTRUCTIONS = {
    "intransitive": ("tree", r"\(VP \(VB[ZPD] (sleeps?|slept)\)\)"),
    "ditransitive": ("tree", r"\(VB[ZPD] (gives?|gave)\) \(NP [^,]*\) \(NP "),
    "dative object": ("de", r"\b(hilft|dankt) (dem|der|den) "),
    "genitive government": ("de", r"\b(Während|während) (des|der|dieses) "),
    "accusative government": ("de", r"\bfür (den|einen) "),
    "contracted im": ("de", r"\b(Im|im) "),
    "contracted zum, zur": ("de", r"\bzu[mr] "),
    "weak noun": ("de", r"\b(den|dem|einem) (Studenten|Jungen|Soldaten|Bären)\b"),
    "strong adjective ending": ("de", r"\b(zwei|zehn) \w+e [A-Z]"),
    "mixed adjective ending": ("de", r"\b(Ein|ein|mein) \w+(er|es) [A-Z]"),
    "separable prefix at the end": ("de", r"\b(kommt|ruft|lädt) .*\b(an|ein)[.,?]"),
    "Perfekt with haben": ("de", r"\bhat .*\bge\w+(t|en)\."),
    "Perfekt with sein": ("de", r"\b(ist|sind) .*\b(gegangen|gekommen|gefallen)\."),
    "preterite": ("de", r"\b(war|hatte)n? "),
    "future with the infinitive at the end": ("de", r"\bwird .*\b(sehen|schlafen|kaufen)\."),
    "modal": ("de", r"\b(kann|muss|will|sollte) .*en\."),
    "nicht": ("de", r"\bnicht\b"),
    "kein": ("de", r"\bkeine?n? "),
    "inversion": ("de", r"^(Heute|Gestern|Morgen) (\w+) (der|die|er|sie|Anna) "),
    "verb-final subordinate clause": ("de", r", (weil|wenn|dass|ob|als) .*\b(hat|ist|wird|kann)[.,]"),
    "relative clause of each gender": ("de", r"\bJunge, der .*\bFrau, die .*|Kind, das "),
    "dative plural relative pronoun": ("de", r", denen "),
    "polite address": ("de", r"\bIhnen\b"),
    "elided article": ("fr", r"\b[Ll]'(homme|enfant|ami)"),
    "elided de": ("fr", r"\bd'(Anna|Emma|un|une|oiseaux)"),
    "elided que": ("fr", r"\bqu'(il|elle|un|une|Anna)"),
    "du": ("fr", r"\bdu "),
    "au": ("fr", r"\bau "),
    "des": ("fr", r"\bprès des\b|\bde la .* des "),
    "aux": ("fr", r"\baux "),
    "ne ... pas": ("fr", r"\b(ne |n')\w+ pas\b"),
    "ne ... jamais": ("fr", r"\b(ne |n')\w+ jamais\b"),
    "pas de": ("fr", r"\bpas (de |d')"),
    "passé composé with avoir": ("fr", r"\ba (vu|acheté|dormi)\b"),
    "passé composé with être": ("fr", r"\bsont (allées|venues|arrivées)\b"),
    "participle agreeing with a pronoun": ("fr", r"\bl'a \w+ée\b"),
    "participle agreeing with an antecedent": ("fr", r"\bque .* (a|ont) \w+ées\b"),
    "futur simple": ("fr", r"\b\w+(era|ira|ront)\b"),
    "clitic before the infinitive": ("fr", r"\b(peut|veut|doit) (le|la|les|me|nous|vous) \w+r\b"),
    "adjective before a vowel": ("fr", r"\b(vieil|bel|nouvel) [aeho]"),
    "s'il": ("fr", r"\b[Ss]'il "),
    "possessive before a vowel": ("fr", r"\b[Ss]on (actrice|amie|infirmière)"),
    "yes/no question": ("tree", r"^\(TOP \(SQ \((VB[ZPD]|MD) "),
    "question for the subject": ("tree", r"\(SBARQ \(WHNP \(WP Who\)\) \(SQ \(VP"),
    "question for the object": ("tree", r"\(SBARQ \(WHNP \(WP (What|Who)\)\) \(SQ \((VB[ZPD]|MD)"),
    "question with where, when and why": ("tree", r"\(SBARQ \(WHADVP \(WRB (Where|When|Why)\)\)"),
    "genitive 's": ("tree", r"\(POS 's\)"),
    "of": ("tree", r"\(PP \(IN of\) \(NP \(DT the\) \(NN \w+\)\)\)"),
    "clauses coordinated": ("tree", r"^\(TOP \(S \(S .*\(, ,\) \(CC (and|but)\) \(S "),
    "verb phrases coordinated": ("tree", r"\(VP \(VP .*\(CC and\) \(VP "),
    "noun phrases coordinated": ("tree", r"\(NP \(NP .*\(CC and\) \(NP "),
    "restrictive relative clause": ("tree", r"\)\) \(SBAR \(WHNP \((WP who|WDT that)\)\)"),
    "free relative clause": ("tree", r"\(, ,\) \(SBAR \(WHNP \((WP who|WDT which)\)\)"),
    "complement clause": ("tree", r"\(SBAR \(IN that\) \(S "),
    "clause of reason": ("tree", r"\(SBAR \(IN because\) \(S "),
    "clause of condition first": ("tree", r"^\(TOP \(S \(SBAR \(IN If\)"),
    "clause of time": ("tree", r"\(SBAR \(WHADVP \(WRB when\)\) \(S "),
    "adverb of frequency": ("tree", r"\(ADVP \(RB (often|always)\)\) \(VP "),
    "prepositional phrase first": ("tree", r"^\(TOP \(S \(PP \(IN (In|Behind|Near)\)"),
    "numeral": ("tree", r"\(CD (two|three|ten)\)"),
    "name": ("tree", r"\(NNP (Anna|Paul)\)"),
    "weather": ("tree", r"\(PRP (it|It)\)"),
}

PENN_TAGS = "CC CD DT IN JJ MD NN NNP NNS POS PRP PRP$ RB TO VB VBD VBP VBZ WDT WP WRB , ."
PENN_LABELS = "TOP S SBAR SBARQ SQ NP VP PP ADVP ADJP WHNP WHADVP"


@pytest.fixture(scope="module")
def sample():
    return list(islice(generate(0), 20_000))


@pytest.fixture(scope="module")
def large_sample():
    return list(islice(generate(17), 110_000))


FIRST = [
    Quadruple(
        "This hungry child who looks at my bag fell, but he was rich.",
        "Dieses hungrige Kind, das meine Tasche ansieht, ist gefallen, aber er war reich.",
        "Cet enfant affamé qui regarde mon sac est tombé, mais il était riche.",
        "(TOP (S (S (NP (NP (DT This) (JJ hungry) (NN child)) (SBAR (WHNP (WP who)) (S (VP (VBZ looks) (PP (IN at)"
        " (NP (PRP$ my) (NN bag))))))) (VP (VBD fell))) (, ,) (CC but) (S (NP (PRP he)) (VP (VBD was)"
        " (ADJP (JJ rich)))) (. .)))",
    ),
    Quadruple(
        "Because the farmers often disappear in her museum, a sick queen looks at the red lamp that a sick actress"
        " buys.",
        "Weil die Bauern oft in ihrem Museum verschwinden, sieht eine kranke Königin die rote Lampe an, die eine"
        " kranke Schauspielerin kauft.",
        "Parce que les paysans disparaissent souvent dans son musée, une reine malade regarde la lampe rouge qu'une"
        " actrice malade achète.",
        "(TOP (S (SBAR (IN Because) (S (NP (DT the) (NNS farmers)) (ADVP (RB often)) (VP (VBP disappear) (PP (IN in)"
        " (NP (PRP$ her) (NN museum)))))) (, ,) (NP (DT a) (JJ sick) (NN queen)) (VP (VBZ looks) (PP (IN at)"
        " (NP (NP (DT the) (JJ red) (NN lamp)) (SBAR (WHNP (WDT that)) (S (NP (DT a) (JJ sick) (NN actress))"
        " (VP (VBZ buys))))))) (. .)))",
    ),
    Quadruple(
        "She was hungry, but she helped the soldier's friendly brother.",
        "Sie war hungrig, aber sie hat dem freundlichen Bruder des Soldaten geholfen.",
        "Elle était affamée, mais elle a aidé le frère sympathique du soldat.",
        "(TOP (S (S (NP (PRP She)) (VP (VBD was) (ADJP (JJ hungry)))) (, ,) (CC but) (S (NP (PRP she)) (VP"
        " (VBD helped) (NP (NP (DT the) (NN soldier) (POS 's)) (JJ friendly) (NN brother)))) (. .)))",
    ),
    Quadruple(
        "Who did you follow last week?",
        "Wem sind Sie letzte Woche gefolgt?",
        "Qui est-ce que vous avez suivi la semaine dernière ?",
        "(TOP (SBARQ (WHNP (WP Who)) (SQ (VBD did) (NP (PRP you)) (VP (VB follow) (NP (JJ last) (NN week)))) (. ?)))",
    ),
]


def test_first_sentences():
    """Also a guard: results are quoted for this corpus, so that a change of it should be on purpose."""
    assert list(islice(generate(0), 4)) == FIRST


def test_seed_decides():
    def first(seed):
        return [quadruple.en for quadruple in islice(generate(seed), 20)]

    assert first(5) == first(5)
    assert first(5) != first(6)
    assert first(5) != first(-5)


def test_same_sentences_in_every_process(sample):
    code = (
        "import hashlib; from itertools import islice; from vaswani_mt.data.grammar import generate, splits;"
        "data = [list(islice(generate(0), 500)), splits({'a': 50, 'b': 20}, seed=3)];"
        "print(hashlib.sha256(repr(data).encode()).hexdigest())"
    )
    here = hashlib.sha256(repr([sample[:500], splits({"a": 50, "b": 20}, seed=3)]).encode()).hexdigest()
    for hash_seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == here


def test_english_decides_german_french_and_tree(large_sample):
    seen: dict[str, Quadruple] = {}
    for quadruple in large_sample:
        assert seen.setdefault(quadruple.en, quadruple) == quadruple
    assert len(large_sample) - len(seen) > 1_000  # sentences did come back


def test_distinct_sentences_are_millions(large_sample):
    """By the birthday problem: among n of N equally likely sentences about n * n / 2N pairs are equal."""
    longer = [quadruple.en for quadruple in large_sample if len(quadruple.en.split()) > 7]
    equal = sum(count * (count - 1) // 2 for count in Counter(longer).values())
    assert len(longer) ** 2 / (2 * max(equal, 1)) > 100_000_000


def test_tree_is_balanced_penn_style(sample):
    for quadruple in sample:
        tree = quadruple.tree
        assert re.fullmatch(r"\(TOP \((S|SQ|SBARQ) .*\)\)", tree)
        depths = list(accumulate({"(": 1, ")": -1}.get(character, 0) for character in tree))
        assert depths[-1] == 0
        assert min(depths[:-1]) == 1
        assert "  " not in tree
        assert "()" not in tree
        assert set(re.findall(r"\((\S+) [^\s()]+\)", tree)) <= set(PENN_TAGS.split())
        assert set(re.findall(r"\((\S+) \(", tree)) <= set(PENN_LABELS.split())


def test_leaves_are_the_tokens_of_the_sentence(sample):
    for quadruple in sample:
        tokens = leaves(quadruple.tree)
        assert detokenise(tokens) == quadruple.en
        # Tokenised the other way round, without the tree: punctuation and 's are tokens of their own.
        assert re.findall(r"'s|\w+|[,.?]", quadruple.en) == tokens


def test_text_is_written_as_prose(sample):
    for en, de, fr, _ in sample:
        for text in (en, de, fr):
            assert text[0].isupper()
            assert text[-1] in ".?"
            assert text == " ".join(text.split())
            assert not re.search(r",\s*[,.?]|^,| ,| \.|[(){}_-]\s|\bNone\b", text)
        assert en[-1] == de[-1] == fr[-1]
        assert not re.search(r" \?", en + de)
        assert re.search(r" \?$", fr) or fr.endswith(".")


def test_french_elides_and_contracts_everywhere(sample):
    for quadruple in sample:
        french = quadruple.fr.lower()
        assert not re.search(r"\b(le|la|de|que|je|ne|me|ce|ma|sa) [aeiouhéèêâôœ]", french), french
        assert not re.search(r"\b(de|à) (le|les) (?!\w+r\b)", french), french
        assert "si il " not in french


def test_german_contracts_everywhere(sample):
    assert not [q.de for q in sample if re.search(r"\b(in|bei|von|zu) dem |\bzu der ", q.de.lower())]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_construction_occurs(sample, construction):
    field, pattern = CONSTRUCTIONS[construction]
    assert sum(bool(re.search(pattern, getattr(quadruple, field))) for quadruple in sample) >= 5


def test_translation_keeps_clause_structure(sample):
    """German marks every subordinate clause by a comma, and every negation of English is one in German and French."""
    for en, de, fr, tree in sample:
        assert de.count(",") >= tree.count("(SBAR ")
        negations = len(re.findall(r"\(RB (?:not|never)\)", tree))
        assert len(re.findall(r"\b(?:nicht|nie|keine?[nmrs]?)\b", de.lower())) == negations
        assert len(re.findall(r"\b(?:pas|jamais)\b", fr)) == negations, en


def test_lengths(sample):
    lengths = [len(quadruple.en.split()) for quadruple in sample]
    assert 9 < sum(lengths) / len(lengths) < 14
    assert min(lengths) >= 2
    assert 30 <= max(lengths) <= 60
    assert sum(length > 20 for length in lengths) / len(lengths) > 0.02


def test_words_are_a_few_hundred(sample):
    vocabulary = Counter(token for quadruple in sample for token in leaves(quadruple.tree.lower()))
    assert 400 < len(vocabulary) < 800
    assert min(vocabulary.values()) >= 5  # each word can be learned


def test_splits_have_their_sizes_and_share_no_sentence():
    result = splits({"train": 3_000, "validation": 200, "test": 300, "empty": 0}, seed=4)
    assert {name: len(quadruples) for name, quadruples in result.items()} == {
        "train": 3_000,
        "validation": 200,
        "test": 300,
        "empty": 0,
    }
    sentences = [quadruple.en for quadruples in result.values() for quadruple in quadruples]
    assert len(set(sentences)) == len(sentences)


def test_splits_are_alike():
    """A split taken later from the stream would hold longer sentences: the short ones would have been drawn before."""
    result = splits({"train": 20_000, "test": 2_000})
    mean = {name: sum(len(q.en.split()) for q in quadruples) / len(quadruples) for name, quadruples in result.items()}
    assert mean["train"] == pytest.approx(mean["test"], abs=0.4)


def test_splits_depend_on_the_seed():
    assert splits({"a": 20}, seed=1) == splits({"a": 20}, seed=1)
    assert splits({"a": 20}, seed=1) != splits({"a": 20}, seed=2)


def test_no_splits():
    assert splits({}) == {}


def test_negative_size_is_refused():
    with pytest.raises(ValueError, match="size of split 'test' must not be negative, got -1"):
        splits({"train": 10, "test": -1})
