"""For pytest: einops' own tests, over lathe."""

import einops.tests

from lathe.compat.einops import LatheBackend

theirs = einops.tests.collect_test_backends


def collect_test_backends(symbolic=False, layers=False):
    """einops' tests ask a fixed list; ours is taken where an imperative framework is asked for."""
    ours = [] if symbolic else [LatheBackend()]
    return ours + theirs(symbolic, layers)


einops.tests.collect_test_backends = collect_test_backends
