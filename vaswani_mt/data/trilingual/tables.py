"""The tables of the lexicon: a pocket dictionary of English, German and French, one row per word.

Columns are separated by "|" and explained above each table. To add a word, add a row; two rules keep the translation
a function of the English sentence: an English form never has two readings (hence no "read", whose past is "read"),
and an English word has one translation for each construction that it is listed with.
"""

# English (plural in -s unless given, "-" for none) | German: article, singular, genitive ending if not feminine,
# plural | French: gender, singular (plural in -s unless given) | kinds
NOUNS = """
man men           | der Mann -es Männer                   | m homme               | person
woman women       | die Frau Frauen                       | f femme               | person
child children    | das Kind -es Kinder                   | m enfant              | person
boy               | der Junge -n Jungen                   | m garçon              | person
girl              | das Mädchen -s Mädchen                | f fille               | person
teacher           | der Lehrer -s Lehrer                  | m professeur          | person kin
doctor            | der Arzt -es Ärzte                    | m médecin             | person kin
student           | der Student -en Studenten             | m étudiant            | person
neighbour         | der Nachbar -n Nachbarn               | m voisin              | person kin
friend            | der Freund -es Freunde                | m ami                 | person kin
brother           | der Bruder -s Brüder                  | m frère               | person kin
sister            | die Schwester Schwestern              | f sœur                | person kin
aunt              | die Tante Tanten                      | f tante               | person kin
uncle             | der Onkel -s Onkel                    | m oncle               | person kin
king              | der König -s Könige                   | m roi                 | person
queen             | die Königin Königinnen                | f reine               | person
actress actresses | die Schauspielerin Schauspielerinnen  | f actrice             | person
nurse             | die Krankenschwester Krankenschwestern | f infirmière         | person
farmer            | der Bauer -n Bauern                   | m paysan              | person
painter           | der Maler -s Maler                    | m peintre             | person
soldier           | der Soldat -en Soldaten               | m soldat              | person
guest             | der Gast -es Gäste                    | m invité              | person
dog               | der Hund -es Hunde                    | m chien               | animal
cat               | die Katze Katzen                      | m chat                | animal
bird              | der Vogel -s Vögel                    | m oiseau oiseaux      | animal
horse             | das Pferd -es Pferde                  | m cheval chevaux      | animal
cow               | die Kuh Kühe                          | f vache               | animal
mouse mice        | die Maus Mäuse                        | f souris souris       | animal
bear              | der Bär -en Bären                     | m ours ours           | animal
book              | das Buch -es Bücher                   | m livre               | thing goods text
letter            | der Brief -es Briefe                  | f lettre              | thing goods text
newspaper         | die Zeitung Zeitungen                 | m journal journaux    | thing goods
picture           | das Bild -es Bilder                   | m tableau tableaux    | thing goods
map               | die Karte Karten                      | f carte               | thing goods
key               | der Schlüssel -s Schlüssel            | f clé                 | thing goods
bag               | die Tasche Taschen                    | m sac                 | thing goods openable
hat               | der Hut -es Hüte                      | m chapeau chapeaux    | thing goods
coat              | der Mantel -s Mäntel                  | m manteau manteaux    | thing goods
dress dresses     | das Kleid -es Kleider                 | f robe                | thing goods
shirt             | das Hemd -es Hemden                   | f chemise             | thing goods
umbrella          | der Regenschirm -s Regenschirme       | m parapluie           | thing goods openable
lamp              | die Lampe Lampen                      | f lampe               | thing goods machine
clock             | die Uhr Uhren                         | f horloge             | thing goods machine
bicycle           | das Fahrrad -es Fahrräder             | m vélo                | thing machine
car               | das Auto -s Autos                     | f voiture             | thing machine
box boxes         | die Kiste Kisten                      | f boîte               | thing goods openable
flower            | die Blume Blumen                      | f fleur               | thing goods
present           | das Geschenk -s Geschenke             | m cadeau cadeaux      | thing goods
apple             | der Apfel -s Äpfel                    | f pomme               | food
cake              | der Kuchen -s Kuchen                  | m gâteau gâteaux      | food
egg               | das Ei -es Eier                       | m œuf                 | food
orange            | die Orange Orangen                    | f orange              | food
tomato tomatoes   | die Tomate Tomaten                    | f tomate              | food
coffee -          | der Kaffee -s -                       | m café -              | drink
tea -             | der Tee -s -                          | m thé -               | drink
beer -            | das Bier -s -                        | f bière -             | drink
juice -           | der Saft -es -                        | m jus -               | drink
door              | die Tür Türen                         | f porte               | thing openable part
window            | das Fenster -s Fenster                | f fenêtre             | thing openable part
roof              | das Dach -es Dächer                   | m toit                | thing part
wall              | die Mauer Mauern                      | m mur                 | thing part
garden            | der Garten -s Gärten                  | m jardin              | thing inside
house             | das Haus -es Häuser                   | f maison              | building
kitchen           | die Küche Küchen                      | f cuisine             | thing inside
forest            | der Wald -es Wälder                   | f forêt               | thing inside landmark
city cities       | die Stadt Städte                      | f ville               | thing inside
village           | das Dorf -es Dörfer                   | m village             | thing inside
park              | der Park -s Parks                     | m parc                | thing inside landmark goal
school            | die Schule Schulen                    | f école               | building goal
church churches   | die Kirche Kirchen                    | f église              | building goal sight
museum            | das Museum -s Museen                  | m musée               | building goal sight
theatre           | das Theater -s Theater                | m théâtre             | building goal
hotel             | das Hotel -s Hotels                   | m hôtel               | building goal
hospital          | das Krankenhaus -es Krankenhäuser     | m hôpital hôpitaux    | building goal
station           | der Bahnhof -s Bahnhöfe               | f gare                | building goal
castle            | das Schloss -es Schlösser             | m château châteaux    | building sight
market            | der Markt -es Märkte                  | m marché              | thing goal landmark
table             | der Tisch -es Tische                  | f table               | thing surface under
chair             | der Stuhl -s Stühle                  | f chaise              | thing surface
bench benches     | die Bank Bänke                        | m banc                | thing surface
bed               | das Bett -es Betten                   | m lit                 | thing surface under
bridge            | die Brücke Brücken                    | m pont                | thing surface under landmark sight
tree              | der Baum -es Bäume                    | m arbre               | thing under landmark
river             | der Fluss -es Flüsse                  | f rivière             | thing landmark
tower             | der Turm -es Türme                    | f tour                | building sight
concert           | das Konzert -s Konzerte               | m concert             | event
meeting           | die Sitzung Sitzungen                 | f réunion             | event
party parties     | das Fest -es Feste                    | f fête                | event
journey           | die Reise Reisen                      | m voyage              | event
exam              | die Prüfung Prüfungen                 | m examen              | event
rain -            | der Regen -s -                        | f pluie -             | weather
storm             | der Sturm -s Stürme                   | f tempête             | weather
noise -           | der Lärm -s -                         | m bruit -             | weather
"""

# A noun of the kind on the left is of the kinds on the right as well.
IMPLIED_KINDS = {"person": "animate", "animal": "animate", "building": "thing inside landmark"}

# English | German (attributive stem after "/" where it differs) | French masculine (form before a vowel after "/"),
# feminine, masculine and feminine plural where not regular, "<" if before the noun | kinds of nouns |
# trait, of which a noun has one at a time
ADJECTIVES = """
old         | alt          | vieux/vieil vieille vieux vieilles <         | person animal thing       | age
young       | jung         | jeune <                                      | person animal             | age
big         | groß         | grand <                                      | animal thing              | size
small       | klein        | petit <                                      | person animal thing food  | size
beautiful   | schön        | beau/bel belle beaux belles <                | animal thing              |
new         | neu          | nouveau/nouvel nouvelle nouveaux nouvelles < | thing                     | age
long        | lang         | long longue longs longues <                  | event text                | size
tired       | müde         | fatigué                                      | person animal             | state
happy       | glücklich    | heureux heureuse heureux heureuses           | person                    | state
sad         | traurig      | triste                                       | person                    | state
rich        | reich        | riche                                        | person                    |
famous      | berühmt      | célèbre                                      | person                    |
friendly    | freundlich   | sympathique                                  | person                    |
sick        | krank        | malade                                       | person animal             | state
hungry      | hungrig      | affamé                                       | person animal             | state
strong      | stark        | fort                                         | person animal             |
intelligent | intelligent  | intelligent                                  | person animal             |
red         | rot          | rouge                                        | thing                     | colour
blue        | blau         | bleu                                         | thing                     | colour
green       | grün         | vert                                         | thing                     | colour
black       | schwarz      | noir                                         | thing animal              | colour
white       | weiß         | blanc blanche blancs blanches                | thing animal              | colour
expensive   | teuer/teur   | cher chère chers chères                      | goods machine food drink  |
heavy       | schwer       | lourd                                        | goods                     |
strange     | seltsam      | étrange                                      | person thing              |
fresh       | frisch       | frais fraîche frais fraîches                 | food                      | heat
sweet       | süß          | sucré                                        | food                      |
hot         | heiß         | chaud                                        | drink                     | heat
cold        | kalt         | froid                                        | drink                     | heat
important   | wichtig      | important                                    | event text                |
"""


# English (past unless regular) and "/preposition" | German infinitive ("+" after a separable prefix), third person,
# "hat" or "ist" and participle unless regular; preposition and case of the object if not a direct one | French and
# "/preposition" | subject > objects, or >> for those that also take a person in the dative | flags: "stative" verbs
# are not put into the Perfekt, "event" verbs happen at a point in time, "voice", "motion" and "joy" take such adverbs
# of manner, what "for" verbs do can be done for somebody, an "open" thought is about the future
VERBS = """
sleep slept       | schlafen schläft hat geschlafen            | dormir      | animate             |
work              | arbeiten                                   | travailler  | person              | motion
laugh             | lachen                                     | rire        | person              | voice joy
cry               | weinen                                     | pleurer     | person              | voice
sing sang         | singen singt hat gesungen                  | chanter     | person              | voice joy
dance             | tanzen                                     | danser      | person              | motion joy
run ran           | laufen läuft ist gelaufen                  | courir      | animate             | motion
swim swam         | schwimmen schwimmt ist geschwommen         | nager       | animate             | motion
speak spoke       | sprechen spricht hat gesprochen            | parler      | person              | voice
arrive            | an+kommen kommt ist angekommen             | arriver     | person              | event
fall fell         | fallen fällt ist gefallen                  | tomber      | animate             | event
stay              | bleiben bleibt ist geblieben               | rester      | animate             |
wait              | warten                                     | attendre    | animate             |
disappear         | verschwinden verschwindet ist verschwunden | disparaître | animate             | event
go went           | gehen geht ist gegangen                    | aller       | person to           |
come came         | kommen kommt ist gekommen                  | venir       | person to           | event
return            | zurück+kehren kehrt ist zurückgekehrt      | retourner   | person to           | event
see saw           | sehen sieht hat gesehen                    | voir        | animate > person animal thing | event
hear heard        | hören                                      | entendre    | animate > person animal | event
know knew         | kennen kennt hat gekannt                   | connaître   | person > person     | stative
love              | lieben                                     | aimer       | person > person animal | stative
admire            | bewundern bewundert hat bewundert          | admirer     | person > person sight |
visit             | besuchen besucht hat besucht               | visiter     | person > sight      |
look/for          | suchen                                     | chercher    | person > person animal goods |
look/at           | an+sehen sieht hat angesehen               | regarder    | person > person animal goods |
wait/for          | warten; auf acc                            | attendre    | person > person     |
listen/to         | zu+hören hört hat zugehört; dat            | écouter     | person > person     |
speak spoke/about | sprechen spricht hat gesprochen; über acc  | parler/de   | person > person thing event |
dream/of          | träumen; von dat                           | rêver/de    | person > animal thing |
help              | helfen hilft hat geholfen; dat             | aider       | person > person     |
thank             | danken; dat                                | remercier   | person > person     |
follow            | folgen folgt ist gefolgt; dat              | suivre      | animate > person animal |
answer            | antworten; dat                             | répondre/à  | person > person     |
call              | an+rufen ruft hat angerufen                | appeler     | person > person     | event
invite            | ein+laden lädt hat eingeladen              | inviter     | person > person     |
meet met          | treffen trifft hat getroffen               | rencontrer  | person > person     | event
find found        | finden findet hat gefunden                 | trouver     | person > person animal goods | event
lose lost         | verlieren verliert hat verloren            | perdre      | person > goods      | event
buy bought        | kaufen                                     | acheter     | person > goods food machine | for
sell sold         | verkaufen verkauft hat verkauft            | vendre      | person > goods machine food |
open              | öffnen öffnet hat geöffnet                 | ouvrir      | person > openable   | motion event for
close             | schließen schließt hat geschlossen         | fermer      | person > openable   | motion event
eat ate           | essen isst hat gegessen                    | manger      | animate > food      | motion
drink drank       | trinken trinkt hat getrunken               | boire       | person > drink      | motion
write wrote       | schreiben schreibt hat geschrieben         | écrire      | person > text       | motion for
carry             | tragen trägt hat getragen                  | porter      | person > goods      | for
paint             | malen                                      | peindre     | person > animal building landmark | for
repair            | reparieren repariert hat repariert         | réparer     | person > machine    | for
hide hid          | verstecken versteckt hat versteckt         | cacher      | person > goods      |
describe          | beschreiben beschreibt hat beschrieben     | décrire     | person > person animal thing |
have had          | haben hat hat gehabt                       | avoir       | person > goods animal machine | stative
give gave         | geben gibt hat gegeben                     | donner      | person >> goods food |
show              | zeigen                                     | montrer     | person >> goods animal |
send sent         | schicken                                   | envoyer     | person >> goods     |
bring brought     | bringen bringt hat gebracht                | apporter    | person >> goods food drink |
lend lent         | leihen leiht hat geliehen                  | prêter      | person >> goods machine |
offer             | an+bieten bietet hat angeboten             | offrir      | person >> goods food drink |
say said          | sagen                                      | dire        | person that         |
believe           | glauben                                    | croire      | person that         |
think thought     | denken denkt hat gedacht                   | penser      | person that         |
know knew         | wissen weiß hat gewusst                    | savoir      | person that         |
hope              | hoffen                                     | espérer     | person that         | open
ask               | fragen                                     | demander    | person whether      |
rain              | regnen regnet hat geregnet                 | pleuvoir    | it                  |
snow              | schneien                                   | neiger      | it                  |
be was            | sein ist ist gewesen                       | être        | any                 |
"""

# Infinitive | present of je, il, nous, vous, ils | auxiliary and participle | stem of the future
FRENCH_VERBS = """
acheter     | achète achète achetons achetez achètent                             | a acheté     | achèter
aller       | vais va allons allez vont                                           | est allé     | ir
appeler     | appelle appelle appelons appelez appellent                          | a appelé     | appeller
arriver     |                                                                     | est arrivé   |
avoir       | ai a avons avez ont                                                 | a eu         | aur
boire       | bois boit buvons buvez boivent                                      | a bu         |
connaître   | connais connaît connaissons connaissez connaissent                  | a connu      |
courir      | cours court courons courez courent                                  | a couru      | courr
croire      | crois croit croyons croyez croient                                  | a cru        |
dire        | dis dit disons dites disent                                         | a dit        |
disparaître | disparais disparaît disparaissons disparaissez disparaissent        | a disparu    |
dormir      | dors dort dormons dormez dorment                                    | a dormi      |
décrire     | décris décrit décrivons décrivez décrivent                          | a décrit     |
envoyer     | envoie envoie envoyons envoyez envoient                             | a envoyé     | enverr
espérer     | espère espère espérons espérez espèrent                             | a espéré     |
manger      | mange mange mangeons mangez mangent                                 | a mangé      |
nager       | nage nage nageons nagez nagent                                      | a nagé       |
neiger      | - neige - - -                                                       | a neigé      |
offrir      | offre offre offrons offrez offrent                                  | a offert     |
ouvrir      | ouvre ouvre ouvrons ouvrez ouvrent                                  | a ouvert     |
peindre     | peins peint peignons peignez peignent                               | a peint      |
pleuvoir    | - pleut - - -                                                       | a plu        | pleuvr
rester      |                                                                     | est resté    |
retourner   |                                                                     | est retourné |
rire        | ris rit rions riez rient                                            | a ri         |
savoir      | sais sait savons savez savent                                       | a su         | saur
suivre      | suis suit suivons suivez suivent                                    | a suivi      |
tomber      |                                                                     | est tombé    |
venir       | viens vient venons venez viennent                                   | est venu     | viendr
voir        | vois voit voyons voyez voient                                       | a vu         | verr
écrire      | écris écrit écrivons écrivez écrivent                               | a écrit      |
être        | suis est sommes êtes sont                                           | a été        | ser
"""

# English, its third person and tag | German I, we | French by slot
MODALS = """
can can MD       | kann können     | peux peut pouvons pouvez peuvent
must must MD     | muss müssen     | dois doit devons devez doivent
should should MD | sollte sollten  | devrais devrait devrions devriez devraient
want wants VB    | will wollen     | veux veut voulons voulez veulent
"""

# English subject and object | German nominative, accusative, dative | French subject, direct and indirect object
PRONOUNS = """
I me      | ich mich mir   | je me me
he him    | er ihn ihm     | il le lui
she her   | sie sie ihr    | elle la lui
we us     | wir uns uns    | nous nous nous
you you   | Sie Sie Ihnen  | vous vous vous
they them | sie sie ihnen  | ils les leur
it it     | es es ihm      | il le lui
"""

# Key, English singular, plural, tag | German stem and declension of adjectives | French masculine, feminine, plural;
# "possessed" follows a name in the genitive; "no" is what negation makes of "a" and "bare" in German and French
DETERMINERS = """
the the the DT      | der definite    | le / la / les
a a - DT            | ein mixed       | un / une /
bare - - DT         | - strong        | / / des
this this these DT  | dies weak       | ce / cette / ces
every every - DT    | jed weak        | chaque / chaque /
my my my PRP$       | mein mixed      | mon / ma / mes
his his his PRP$    | sein mixed      | son / sa / ses
her her her PRP$    | ihr mixed       | son / sa / ses
our our our PRP$    | unser mixed     | notre / notre / nos
your your your PRP$ | Ihr mixed       | votre / votre / vos
some - some DT      | einig strong    | / / quelques
many - many JJ      | viel strong     | / / beaucoup de
two - two CD        | zwei invariant  | / / deux
three - three CD    | drei invariant  | / / trois
four - four CD      | vier invariant  | / / quatre
five - five CD      | fünf invariant  | / / cinq
ten - ten CD        | zehn invariant  | / / dix
possessed - - DT    | - strong        | le / la / les
no - - DT           | kein mixed      | de / de / de
"""
DEFINITE_DETERMINERS = {"the", "this", "my", "his", "her", "our", "your", "possessed"}

# Use | English | German and its case | French
PREPOSITIONS = """
inside   | (PP (IN in) {})                                   | in dat      | dans
surface  | (PP (IN on) {})                                   | auf dat     | sur
under    | (PP (IN under) {})                                | unter dat   | sous
landmark | (PP (IN near) {})                                 | bei dat     | près de
landmark | (PP (IN behind) {})                               | hinter dat  | derrière
landmark | (PP (IN in) (NP (NP (NN front)) (PP (IN of) {}))) | vor dat     | devant
goal     | (PP (TO to) {})                                   | zu dat      | à
in city  | (PP (IN in) {})                                   | in dat      | à
to city  | (PP (TO to) {})                                   | nach dat    | à
event    | (PP (IN during) {})                               | während gen | pendant
event    | (PP (IN after) {})                                | nach dat    | après
event    | (PP (IN before) {})                               | vor dat     | avant
weather  | (PP (IN despite) {})                              | trotz gen   | malgré
with     | (PP (IN with) {})                                 | mit dat     | avec
with     | (PP (IN without) {})                              | ohne acc    | sans
for      | (PP (IN for) {})                                  | für acc     | pour
"""

# Use | English | German | French
ADVERBS = """
frequency        | (ADVP (RB often))                      | oft             | souvent
frequency        | (ADVP (RB always))                     | immer           | toujours
frequency        | (ADVP (RB sometimes))                  | manchmal        | parfois
frequency        | (ADVP (RB rarely))                     | selten          | rarement
frequency        | (ADVP (RB never))                      | nie             | jamais
voice            | (ADVP (RB quietly))                    | leise           | doucement
voice            | (ADVP (RB loudly))                     | laut            | fort
joy              | (ADVP (RB happily))                    | fröhlich        | joyeusement
motion           | (ADVP (RB slowly))                     | langsam         | lentement
motion           | (ADVP (RB quickly))                    | schnell         | rapidement
present          | (ADVP (RB now))                        | jetzt           | maintenant
habit            | (NP (DT every) (NN day))               | jeden Tag       | tous les jours
habit            | (PP (IN in) (NP (DT the) (NN morning))) | am Morgen      | le matin
habit            | (PP (IN in) (NP (DT the) (NN evening))) | am Abend       | le soir
past             | (NP (NN yesterday))                    | gestern         | hier
past             | (NP (JJ last) (NN week))               | letzte Woche    | la semaine dernière
past             | (NP (JJ last) (NN year))               | letztes Jahr    | l'année dernière
future           | (NP (NN tomorrow))                     | morgen          | demain
future           | (NP (JJ next) (NN week))               | nächste Woche   | la semaine prochaine
future           | (NP (JJ next) (NN year))               | nächstes Jahr   | l'année prochaine
present future   | (NP (NN today))                        | heute           | aujourd'hui
past future      | (PP (IN on) (NP (NNP Monday)))         | am Montag       | lundi
past future      | (PP (IN on) (NP (NNP Friday)))         | am Freitag      | vendredi
past future      | (PP (IN on) (NP (NNP Sunday)))         | am Sonntag      | dimanche
"""

# Name | English | German (of a past clause after "/" where it differs) | French
CONJUNCTIONS = """
because | (IN because)           | weil     | parce que
when    | (WHADVP (WRB when))    | wenn/als | quand
while   | (IN while)             | während  | pendant que
if      | (IN if)                | wenn     | si
that    | (IN that)              | dass     | que
whether | (IN whether)           | ob       | si
and     | (CC and)               | und      | et
but     | (CC but)               | , aber   | , mais
"""

# What is asked for | English | German | French
QUESTION_WORDS = """
subject | (WHNP (WP Who))     | wer   | qui
person  | (WHNP (WP Who))     | wen   | qui
thing   | (WHNP (WP What))    | was   | que
place   | (WHADVP (WRB Where)) | wo   | où
time    | (WHADVP (WRB When)) | wann  | quand
reason  | (WHADVP (WRB Why))  | warum | pourquoi
"""

WOMEN = "Anna Clara Emma Julia Laura Nora"
MEN = "Daniel David Martin Oliver Paul Robert Simon"
CITIES = "Paris London/London/Londres Vienna/Wien/Vienne Berlin Rome/Rom/Rome Geneva/Genf/Genève"
