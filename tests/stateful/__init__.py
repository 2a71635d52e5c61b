"""Stateful programs: does a captured function do what it does without capture?

The programs read and change what ordinary Python programs do (attributes, containers, closures,
module attributes, generators, random streams, context variables, modules, gradients), and their
state is changed between calls. Each runs as it is and captured (lathe.trace, lathe.script), in
processes of their own, and after every call results, all state in reach, printed text, random
streams and exceptions are compared.

run.py        the tool; its first lines say how it is called
classes/      the classes of programs that captures have got wrong, with variants
ordinary/     code as people write it, which is to be captured without a refusal
generate.py   programs at random, made of the parts in pieces/
execute.py    what a program is, and how one runs; describe.py: what is compared
wrong_captures.py  captures that are wrong on purpose, for the tests of the runner
judge.py      verdicts; verdicts.txt: those that are not as they should be, with the reason
"""
