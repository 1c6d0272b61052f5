"""What `vaswani_mt.data.grammar` is made of, in the order in which to read it.

`tables` (the dictionary as text), `lexicon` (its words with all their forms), `clauses` (what a sentence says, in no
language), `english`, `german` and `french` (how each says it), `sampling` (drawing clauses at random).
"""
