"""Guards from observed reads.

A function is captured by running it once with hooks at every read (rewrite.py). An Observer
(observer.py) turns each read of what was there before into a row (rows.py), which later calls
evaluate in C++ (python/bindings/guards.h), and each store to it into an effect (effects.py), which
later calls repeat. Calls of what is written in C are refused unless calls.py lists them. A function
that does no more than call ops needs no hooks, and is captured without most of this (unhooked.py).

Two nets look after that: every Python frame of the capture has to be one with hooks, and every
object that was there before the capture has to come from a read (python/bindings/observer.h).
"""
