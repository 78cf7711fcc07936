"""Potentially relevant pairs: captions that share an action, and their moments as candidates.

Maeoki, Mukuta and Harada, "Video Moment Retrieval with Text Query Considering Many-to-Many
Correspondence Using Potentially Relevant Pair". If two captions share an action, the moment of one
is a candidate for the other. `phrases` divides captions into parts, and `detection` compares parts.
"""
