"""The extension module. Printed by python/stubs/print_stubs.py; do not edit."""

from typing import Any

from . import *  # noqa: F403

_add_hook: Any
_assign: Any
_detach_here: Any
_error_text: Any
_from_bytes: Any
_install: Any
_make_subclass: Any
_print: Any
_retain_grad: Any
_rows: Any
_set_grad_enabled: Any
_site: Any
_symbolic: Any
_to_bytes: Any
_to_dlpack: Any
_tracing: Any
ops: Any
