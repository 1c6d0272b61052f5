"""Clauses put together by hand, against what the three languages and the Penn Treebank say for them."""

import pytest

from vaswani_mt.data.grammar import detokenise, leaves
from vaswani_mt.data.trilingual.clauses import (
    Clause,
    Coordination,
    Gap,
    NounPhrase,
    PrepositionalPhrase,
    Relativised,
    Sentence,
    Subordinate,
)
from vaswani_mt.data.trilingual.english import english_tree
from vaswani_mt.data.trilingual.french import french
from vaswani_mt.data.trilingual.german import german
from vaswani_mt.data.trilingual.lexicon import (
    ADJECTIVES,
    ADVERBS,
    CITIES,
    CONJUNCTIONS,
    DETERMINERS,
    FUTURE,
    MODALS,
    NOUNS,
    PAST,
    PEOPLE,
    PL3,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    SG3,
    VERBS,
)

NOUN = {noun.en[0]: noun for noun in NOUNS}
ADJECTIVE = {adjective.en: adjective for adjective in ADJECTIVES}
PERSON = {name.en: name for name in PEOPLE}
CITY = {name.en: name for name in CITIES}
MODAL = {modal.en[0]: modal for modal in MODALS}
ADVERB = {adverb.en: adverb for adverbs in ADVERBS.values() for adverb in adverbs}


def verb(base, frame=None):
    return next(v for v in VERBS if f"{v.en[0]} {v.preposition}".strip() == base and frame in (None, v.frame))


def phrase(words, **parts):
    """The noun phrase of e.g. "the old man" or "these small red houses", given as "this ... house+"."""
    determiner, *adjectives, noun = words.split()
    plural = noun.endswith("+")
    return NounPhrase(
        NOUN[noun.rstrip("+")], plural, DETERMINERS[determiner], tuple(ADJECTIVE[x] for x in adjectives), **parts
    )


def at(preposition, nominal):
    """The phrase with the first preposition of a use, or that of the German form ("landmark vor")."""
    use, _, form = preposition.partition(" ")
    return PrepositionalPhrase(next(x for x in PREPOSITIONS[use.replace("_", " ")] if x.de.startswith(form)), nominal)


def adverb(leaf):
    return next(adverb for tree, adverb in ADVERB.items() if leaf in tree)


ANNA, PAUL = PERSON["Anna"], PERSON["Paul"]
ME, HE, SHE, YOU, IT = (PRONOUNS[word] for word in ("I", "he", "she", "you", "it"))

STATEMENTS = {
    "adjective agreement": (
        Clause(verb("sleep"), phrase("the old man")),
        "The old man sleeps.",
        "Der alte Mann schläft.",
        "Le vieil homme dort.",
        "(TOP (S (NP (DT The) (JJ old) (NN man)) (VP (VBZ sleeps)) (. .)))",
    ),
    "indefinite with two adjectives, accusative": (
        Clause(verb("buy"), ME, object=phrase("a beautiful green hat")),
        "I buy a beautiful green hat.",
        "Ich kaufe einen schönen grünen Hut.",
        "J'achète un beau chapeau vert.",
        "(TOP (S (NP (PRP I)) (VP (VBP buy) (NP (DT a) (JJ beautiful) (JJ green) (NN hat))) (. .)))",
    ),
    "a before a vowel, plural adjective before the noun": (
        Clause(verb("see"), phrase("a uncle"), object=phrase("bare small cow+")),
        "An uncle sees small cows.",
        "Ein Onkel sieht kleine Kühe.",
        "Un oncle voit de petites vaches.",
        "(TOP (S (NP (DT An) (NN uncle)) (VP (VBZ sees) (NP (JJ small) (NNS cows))) (. .)))",
    ),
    "weak noun, possessive, dative plural": (
        Clause(verb("help"), phrase("my aunt+"), object=phrase("every sick student")),
        "My aunts help every sick student.",
        "Meine Tanten helfen jedem kranken Studenten.",
        "Mes tantes aident chaque étudiant malade.",
        "(TOP (S (NP (PRP$ My) (NNS aunts)) (VP (VBP help) (NP (DT every) (JJ sick) (NN student))) (. .)))",
    ),
    "ditransitive with contraction of à": (
        Clause(
            verb("give"), phrase("her friend"), PAST, indirect=phrase("the child+"), object=phrase("three red apple+")
        ),
        "Her friend gave the children three red apples.",
        "Ihr Freund hat den Kindern drei rote Äpfel gegeben.",
        "Son ami a donné trois pommes rouges aux enfants.",
        "(TOP (S (NP (PRP$ Her) (NN friend)) (VP (VBD gave) (NP (DT the) (NNS children))"
        " (NP (CD three) (JJ red) (NNS apples))) (. .)))",
    ),
    "past with sein and être": (
        Clause(verb("arrive"), phrase("the actress+"), PAST, time=adverb("yesterday")),
        "The actresses arrived yesterday.",
        "Die Schauspielerinnen sind gestern angekommen.",
        "Les actrices sont arrivées hier.",
        "(TOP (S (NP (DT The) (NNS actresses)) (VP (VBD arrived) (NP (NN yesterday))) (. .)))",
    ),
    "separable verb and object pronoun": (
        Clause(verb("invite"), phrase("the king"), object=SHE),
        "The king invites her.",
        "Der König lädt sie ein.",
        "Le roi l'invite.",
        "(TOP (S (NP (DT The) (NN king)) (VP (VBZ invites) (NP (PRP her))) (. .)))",
    ),
    "participle agrees with the pronoun": (
        Clause(verb("listen to"), HE, PAST, object=SHE),
        "He listened to her.",
        "Er hat ihr zugehört.",
        "Il l'a écoutée.",
        "(TOP (S (NP (PRP He)) (VP (VBD listened) (PP (TO to) (NP (PRP her)))) (. .)))",
    ),
    "negated indefinite object": (
        Clause(verb("buy"), ANNA, negated=True, object=phrase("a orange")),
        "Anna does not buy an orange.",
        "Anna kauft keine Orange.",
        "Anna n'achète pas d'orange.",
        "(TOP (S (NP (NNP Anna)) (VP (VBZ does) (RB not) (VP (VB buy) (NP (DT an) (NN orange)))) (. .)))",
    ),
    "negated definite object in the past": (
        Clause(verb("close"), phrase("the nurse+"), PAST, negated=True, object=phrase("the door")),
        "The nurses did not close the door.",
        "Die Krankenschwestern haben die Tür nicht geschlossen.",
        "Les infirmières n'ont pas fermé la porte.",
        "(TOP (S (NP (DT The) (NNS nurses)) (VP (VBD did) (RB not) (VP (VB close) (NP (DT the) (NN door)))) (. .)))",
    ),
    "never": (
        Clause(verb("drink"), YOU, frequency=adverb("never"), object=phrase("a tea")),
        "You never drink a tea.",
        "Sie trinken nie einen Tee.",
        "Vous ne buvez jamais de thé.",
        "(TOP (S (NP (PRP You)) (ADVP (RB never)) (VP (VBP drink) (NP (DT a) (NN tea))) (. .)))",
    ),
    "modal with clitic": (
        Clause(verb("help"), PAUL, modal=MODAL["want"], negated=True, object=HE),
        "Paul does not want to help him.",
        "Paul will ihm nicht helfen.",
        "Paul ne veut pas l'aider.",
        "(TOP (S (NP (NNP Paul)) (VP (VBZ does) (RB not) (VP (VB want) (S (VP (TO to) (VP (VB help)"
        " (NP (PRP him))))))) (. .)))",
    ),
    "future, prepositional objects": (
        Clause(verb("speak about", "transitive"), ME, FUTURE, object=phrase("the journey")),
        "I will speak about the journey.",
        "Ich werde über die Reise sprechen.",
        "Je parlerai du voyage.",
        "(TOP (S (NP (PRP I)) (VP (MD will) (VP (VB speak) (PP (IN about) (NP (DT the) (NN journey))))) (. .)))",
    ),
    "goal, contractions": (
        Clause(verb("go"), phrase("the woman"), PAST, place=at("goal", phrase("the market"))),
        "The woman went to the market.",
        "Die Frau ist zum Markt gegangen.",
        "La femme est allée au marché.",
        "(TOP (S (NP (DT The) (NN woman)) (VP (VBD went) (PP (TO to) (NP (DT the) (NN market)))) (. .)))",
    ),
    "city as goal": (
        Clause(verb("return", "to"), SHE, FUTURE, place=at("to_city", CITY["Vienna"])),
        "She will return to Vienna.",
        "Sie wird nach Wien zurückkehren.",
        "Elle retournera à Vienne.",
        "(TOP (S (NP (PRP She)) (VP (MD will) (VP (VB return) (PP (TO to) (NP (NNP Vienna))))) (. .)))",
    ),
    "fronted place inverts German": (
        Clause(verb("sing"), HE, manner=adverb("loudly"), place=at("inside", phrase("the garden")), fronted="place"),
        "In the garden, he sings loudly.",
        "Im Garten singt er laut.",
        "Dans le jardin, il chante fort.",
        "(TOP (S (PP (IN In) (NP (DT the) (NN garden))) (, ,) (NP (PRP he))"
        " (VP (VBZ sings) (ADVP (RB loudly))) (. .)))",
    ),
    "genitive government": (
        Clause(verb("laugh"), PAUL, PAST, time=at("event", phrase("the important meeting")), fronted="time"),
        "During the important meeting, Paul laughed.",
        "Während der wichtigen Sitzung hat Paul gelacht.",
        "Pendant la réunion importante, Paul a ri.",
        "(TOP (S (PP (IN During) (NP (DT the) (JJ important) (NN meeting))) (, ,) (NP (NNP Paul))"
        " (VP (VBD laughed)) (. .)))",
    ),
    "accusative after ohne, nested preposition": (
        Clause(
            verb("wait"),
            phrase("this girl", modifier=at("landmark vor", phrase("the school"))),
            place=at("with ohne", PAUL),
        ),
        "This girl in front of the school waits without Paul.",
        "Dieses Mädchen vor der Schule wartet ohne Paul.",
        "Cette fille devant l'école attend sans Paul.",
        "(TOP (S (NP (NP (DT This) (NN girl)) (PP (IN in) (NP (NP (NN front)) (PP (IN of) (NP (DT the)"
        " (NN school)))))) (VP (VBZ waits) (PP (IN without) (NP (NNP Paul)))) (. .)))",
    ),
    "genitives": (
        Clause(
            verb("see"),
            phrase("possessed young dog", possessor=ANNA),
            object=phrase("the roof", of=phrase("this hotel")),
        ),
        "Anna's young dog sees the roof of this hotel.",
        "Annas junger Hund sieht das Dach dieses Hotels.",
        "Le jeune chien d'Anna voit le toit de cet hôtel.",
        "(TOP (S (NP (NP (NNP Anna) (POS 's)) (JJ young) (NN dog)) (VP (VBZ sees) (NP (NP (DT the) (NN roof))"
        " (PP (IN of) (NP (DT this) (NN hotel))))) (. .)))",
    ),
    "possessor with determiner": (
        Clause(verb("repair"), ME, PAST, object=phrase("the car", possessor=phrase("his neighbour"))),
        "I repaired his neighbour's car.",
        "Ich habe das Auto seines Nachbarn repariert.",
        "J'ai réparé la voiture de son voisin.",
        "(TOP (S (NP (PRP I)) (VP (VBD repaired) (NP (NP (PRP$ his) (NN neighbour) (POS 's)) (NN car))) (. .)))",
    ),
    "description of women": (
        Clause(verb("be"), Coordination(ANNA, phrase("her sister")), PAST, predicate=ADJECTIVE["happy"]),
        "Anna and her sister were happy.",
        "Anna und ihre Schwester waren glücklich.",
        "Anna et sa sœur étaient heureuses.",
        "(TOP (S (NP (NP (NNP Anna)) (CC and) (NP (PRP$ her) (NN sister))) (VP (VBD were) (ADJP (JJ happy))) (. .)))",
    ),
    "mixed coordination, repeated preposition": (
        Clause(verb("dream of"), SHE, object=Coordination(phrase("the horse+"), phrase("a bear"))),
        "She dreams of the horses and a bear.",
        "Sie träumt von den Pferden und einem Bären.",
        "Elle rêve des chevaux et d'un ours.",
        "(TOP (S (NP (PRP She)) (VP (VBZ dreams) (PP (IN of) (NP (NP (DT the) (NNS horses)) (CC and)"
        " (NP (DT a) (NN bear))))) (. .)))",
    ),
    "subject relative clause": (
        Clause(
            verb("know", "transitive"), Relativised(phrase("the boy"), Clause(verb("swim"), Gap()), True), object=ME
        ),
        "The boy who swims knows me.",
        "Der Junge, der schwimmt, kennt mich.",
        "Le garçon qui nage me connaît.",
        "(TOP (S (NP (NP (DT The) (NN boy)) (SBAR (WHNP (WP who)) (S (VP (VBZ swims))))) (VP (VBZ knows)"
        " (NP (PRP me))) (. .)))",
    ),
    "object relative clauses, extraposed in German": (
        Clause(
            verb("find"),
            ANNA,
            PAST,
            object=Relativised(
                phrase("the key+"), Clause(verb("lose"), phrase("the man"), PAST, object=Gap(PL3, True, True)), True
            ),
        ),
        "Anna found the keys that the man lost.",
        "Anna hat die Schlüssel gefunden, die der Mann verloren hat.",
        "Anna a trouvé les clés que l'homme a perdues.",
        "(TOP (S (NP (NNP Anna)) (VP (VBD found) (NP (NP (DT the) (NNS keys)) (SBAR (WHNP (WDT that))"
        " (S (NP (DT the) (NN man)) (VP (VBD lost)))))) (. .)))",
    ),
    "dative relative pronoun": (
        Clause(
            verb("cry"), Relativised(phrase("two child+"), Clause(verb("thank"), PAUL, object=Gap(PL3, True)), True)
        ),
        "Two children whom Paul thanks cry.",
        "Zwei Kinder, denen Paul dankt, weinen.",
        "Deux enfants que Paul remercie pleurent.",
        "(TOP (S (NP (NP (CD Two) (NNS children)) (SBAR (WHNP (WP whom)) (S (NP (NNP Paul))"
        " (VP (VBZ thanks))))) (VP (VBP cry)) (. .)))",
    ),
    "free relative clause": (
        Clause(
            verb("sleep"),
            Relativised(phrase("the old man"), Clause(verb("be"), Gap(), predicate=ADJECTIVE["tired"]), False),
        ),
        "The old man, who is tired, sleeps.",
        "Der alte Mann, der müde ist, schläft.",
        "Le vieil homme, qui est fatigué, dort.",
        "(TOP (S (NP (NP (DT The) (JJ old) (NN man)) (, ,) (SBAR (WHNP (WP who)) (S (VP (VBZ is)"
        " (ADJP (JJ tired))))) (, ,)) (VP (VBZ sleeps)) (. .)))",
    ),
    "free relative clause at the end": (
        Clause(
            verb("love"),
            ME,
            object=Relativised(phrase("the cat"), Clause(verb("eat"), Gap(), PAST, object=phrase("your cake")), False),
        ),
        "I love the cat, which ate your cake.",
        "Ich liebe die Katze, die Ihren Kuchen gegessen hat.",
        "J'aime le chat, qui a mangé votre gâteau.",
        "(TOP (S (NP (PRP I)) (VP (VBP love) (NP (NP (DT the) (NN cat)) (, ,) (SBAR (WHNP (WDT which))"
        " (S (VP (VBD ate) (NP (PRP$ your) (NN cake))))))) (. .)))",
    ),
    "because": (
        Clause(
            verb("stay"),
            SHE,
            adverbial=Subordinate(CONJUNCTIONS["because"], Clause(verb("rain"), IT)),
        ),
        "She stays because it rains.",
        "Sie bleibt, weil es regnet.",
        "Elle reste parce qu'il pleut.",
        "(TOP (S (NP (PRP She)) (VP (VBZ stays) (SBAR (IN because) (S (NP (PRP it)) (VP (VBZ rains))))) (. .)))",
    ),
    "fronted when in the past": (
        Clause(
            verb("cry"),
            ANNA,
            PAST,
            adverbial=Subordinate(CONJUNCTIONS["when"], Clause(verb("arrive"), phrase("my brother"), PAST)),
            fronted="adverbial",
        ),
        "When my brother arrived, Anna cried.",
        "Als mein Bruder angekommen ist, hat Anna geweint.",
        "Quand mon frère est arrivé, Anna a pleuré.",
        "(TOP (S (SBAR (WHADVP (WRB When)) (S (NP (PRP$ my) (NN brother)) (VP (VBD arrived)))) (, ,)"
        " (NP (NNP Anna)) (VP (VBD cried)) (. .)))",
    ),
    "if with elision": (
        Clause(
            verb("come"),
            ME,
            FUTURE,
            place=at("goal", phrase("the church")),
            adverbial=Subordinate(CONJUNCTIONS["if"], Clause(verb("call"), HE, object=ME)),
            fronted="adverbial",
        ),
        "If he calls me, I will come to the church.",
        "Wenn er mich anruft, werde ich zur Kirche kommen.",
        "S'il m'appelle, je viendrai à l'église.",
        "(TOP (S (SBAR (IN If) (S (NP (PRP he)) (VP (VBZ calls) (NP (PRP me))))) (, ,) (NP (PRP I)) (VP (MD will)"
        " (VP (VB come) (PP (TO to) (NP (DT the) (NN church))))) (. .)))",
    ),
    "that": (
        Clause(
            verb("know", "that"),
            phrase("the teacher+"),
            complement=Subordinate(
                CONJUNCTIONS["that"], Clause(verb("visit"), SHE, FUTURE, object=phrase("the new museum"))
            ),
        ),
        "The teachers know that she will visit the new museum.",
        "Die Lehrer wissen, dass sie das neue Museum besuchen wird.",
        "Les professeurs savent qu'elle visitera le nouveau musée.",
        "(TOP (S (NP (DT The) (NNS teachers)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP she)) (VP (MD will)"
        " (VP (VB visit) (NP (DT the) (JJ new) (NN museum))))))) (. .)))",
    ),
    "whether": (
        Clause(verb("ask"), PAUL, complement=Subordinate(CONJUNCTIONS["whether"], Clause(verb("speak"), ANNA, PAST))),
        "Paul asks whether Anna spoke.",
        "Paul fragt, ob Anna gesprochen hat.",
        "Paul demande si Anna a parlé.",
        "(TOP (S (NP (NNP Paul)) (VP (VBZ asks) (SBAR (IN whether) (S (NP (NNP Anna)) (VP (VBD spoke))))) (. .)))",
    ),
    "two verb phrases share the auxiliary": (
        Clause(verb("dance"), ANNA, PAST, coordinate=Clause(verb("sing"), Gap(SG3, False, True), PAST)),
        "Anna danced and sang.",
        "Anna hat getanzt und gesungen.",
        "Anna a dansé et a chanté.",
        "(TOP (S (NP (NNP Anna)) (VP (VP (VBD danced)) (CC and) (VP (VBD sang))) (. .)))",
    ),
    "two verb phrases with different auxiliaries": (
        Clause(verb("dance"), ANNA, PAST, coordinate=Clause(verb("fall"), Gap(SG3, False, True), PAST)),
        "Anna danced and fell.",
        "Anna hat getanzt und ist gefallen.",
        "Anna a dansé et est tombée.",
        "(TOP (S (NP (NNP Anna)) (VP (VP (VBD danced)) (CC and) (VP (VBD fell))) (. .)))",
    ),
}

QUESTIONS = {
    "yes or no": (
        Sentence(Clause(verb("open"), phrase("the boy"), PAST, object=phrase("my letter")), True),
        "Did the boy open my letter?",
        "Hat der Junge meinen Brief geöffnet?",
        "Est-ce que le garçon a ouvert ma lettre ?",
        "(TOP (SQ (VBD Did) (NP (DT the) (NN boy)) (VP (VB open) (NP (PRP$ my) (NN letter))) (. ?)))",
    ),
    "with be": (
        Sentence(Clause(verb("be"), phrase("this house+"), predicate=ADJECTIVE["new"]), True),
        "Are these houses new?",
        "Sind diese Häuser neu?",
        "Est-ce que ces maisons sont nouvelles ?",
        "(TOP (SQ (VBP Are) (NP (DT these) (NNS houses)) (ADJP (JJ new)) (. ?)))",
    ),
    "subject": (
        Sentence(
            Clause(verb("go"), Gap(), PAST, place=at("to_city", CITY["London"])), True, QUESTION_WORDS["subject"]
        ),
        "Who went to London?",
        "Wer ist nach London gegangen?",
        "Qui est allé à Londres ?",
        "(TOP (SBARQ (WHNP (WP Who)) (SQ (VP (VBD went) (PP (TO to) (NP (NNP London))))) (. ?)))",
    ),
    "dative object": (
        Sentence(Clause(verb("follow"), YOU, FUTURE, object=Gap()), True, QUESTION_WORDS["person"]),
        "Who will you follow?",
        "Wem werden Sie folgen?",
        "Qui est-ce que vous suivrez ?",
        "(TOP (SBARQ (WHNP (WP Who)) (SQ (MD will) (NP (PRP you)) (VP (VB follow))) (. ?)))",
    ),
    "thing": (
        Sentence(Clause(verb("write"), ANNA, object=Gap()), True, QUESTION_WORDS["thing"]),
        "What does Anna write?",
        "Was schreibt Anna?",
        "Qu'est-ce qu'Anna écrit ?",
        "(TOP (SBARQ (WHNP (WP What)) (SQ (VBZ does) (NP (NNP Anna)) (VP (VB write))) (. ?)))",
    ),
    "place": (
        Sentence(Clause(verb("wait for"), HE, object=SHE), True, QUESTION_WORDS["place"]),
        "Where does he wait for her?",
        "Wo wartet er auf sie?",
        "Où est-ce qu'il l'attend ?",
        "(TOP (SBARQ (WHADVP (WRB Where)) (SQ (VBZ does) (NP (PRP he)) (VP (VB wait) (PP (IN for)"
        " (NP (PRP her))))) (. ?)))",
    ),
}

PAIRS = {
    "but": (
        Sentence(
            Clause(verb("be"), HE, predicate=ADJECTIVE["rich"]),
            conjunction=CONJUNCTIONS["but"],
            second=Clause(verb("be"), HE, negated=True, predicate=ADJECTIVE["happy"]),
        ),
        "He is rich, but he is not happy.",
        "Er ist reich, aber er ist nicht glücklich.",
        "Il est riche, mais il n'est pas heureux.",
        "(TOP (S (S (NP (PRP He)) (VP (VBZ is) (ADJP (JJ rich)))) (, ,) (CC but) (S (NP (PRP he)) (VP (VBZ is)"
        " (RB not) (ADJP (JJ happy)))) (. .)))",
    ),
    "and after a relative clause": (
        Sentence(
            Clause(verb("see"), ME, object=Relativised(ANNA, Clause(verb("run"), Gap(SG3, False, True)), False)),
            conjunction=CONJUNCTIONS["and"],
            second=Clause(verb("snow"), IT),
        ),
        "I see Anna, who runs, and it snows.",
        "Ich sehe Anna, die läuft, und es schneit.",
        "Je vois Anna, qui court, et il neige.",
        "(TOP (S (S (NP (PRP I)) (VP (VBP see) (NP (NP (NNP Anna)) (, ,) (SBAR (WHNP (WP who)) (S (VP"
        " (VBZ runs))))))) (, ,) (CC and) (S (NP (PRP it)) (VP (VBZ snows))) (. .)))",
    ),
}

CASES = {key: (Sentence(clause), *rest) for key, (clause, *rest) in STATEMENTS.items()} | QUESTIONS | PAIRS


@pytest.mark.parametrize("name", CASES)
def test_sentence_in_all_languages(name):
    sentence, en, de, fr, tree = CASES[name]
    assert english_tree(sentence) == tree
    assert detokenise(leaves(tree)) == en
    assert german(sentence) == de
    assert french(sentence) == fr


def decline(words):
    return [
        " ".join(german(Sentence(Clause(verb("sleep"), phrase(words)))).split()[:-1]),
        german(Sentence(Clause(verb("see"), ME, object=phrase(words)))).removeprefix("Ich sehe ")[:-1],
        german(Sentence(Clause(verb("thank"), ME, object=phrase(words)))).removeprefix("Ich danke ")[:-1],
    ]


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        ("the old bear", ["Der alte Bär", "den alten Bären", "dem alten Bären"]),
        ("a old cow", ["Eine alte Kuh", "eine alte Kuh", "einer alten Kuh"]),
        ("my white horse", ["Mein weißes Pferd", "mein weißes Pferd", "meinem weißen Pferd"]),
        ("this tired farmer", ["Dieser müde Bauer", "diesen müden Bauern", "diesem müden Bauern"]),
        ("the old guest+", ["Die alten Gäste", "die alten Gäste", "den alten Gästen"]),
        ("our small girl+", ["Unsere kleinen Mädchen", "unsere kleinen Mädchen", "unseren kleinen Mädchen"]),
        ("many sick soldier+", ["Viele kranke Soldaten", "viele kranke Soldaten", "vielen kranken Soldaten"]),
        ("ten black mouse+", ["Zehn schwarze Mäuse", "zehn schwarze Mäuse", "zehn schwarzen Mäusen"]),
    ],
)
def test_german_declension(words, forms):
    assert decline(words) == forms


@pytest.mark.parametrize(
    ("words", "french_phrase"),
    [
        ("the old bear", "Le vieil ours"),
        ("the old cat", "Le vieux chat"),
        ("this friend", "Cet ami"),
        ("her actress", "Son actrice"),
        ("my beautiful horse+", "Mes beaux chevaux"),
        ("many bird+", "Beaucoup d'oiseaux"),
        ("a happy queen", "Une reine heureuse"),
        ("five white cow+", "Cinq vaches blanches"),
    ],
)
def test_french_noun_phrase(words, french_phrase):
    sentence = french(Sentence(Clause(verb("sleep"), phrase(words))))
    assert sentence.removesuffix(" dorment.").removesuffix(" dort.") == french_phrase
