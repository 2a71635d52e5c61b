"""The extension module. Printed by python/stubs/print_stubs.py; do not edit."""

from typing import Any

from . import *  # noqa: F403

_Batch: Any
_Generator: Any
_Tensor: Any
_add_grown_hook: Any
_add_hook: Any
_apart: Any
_array_input: Any
_assign: Any
_attribute_ops: Any
_batch_fallbacks: Any
_batching: Any
_become: Any
_capture: Any
_define_op: Any
_definitions: Any
_detach_here: Any
_error_text: Any
_find: Any
_from_bytes: Any
_history_beyond: Any
_hooks: Any
_install: Any
_is_made: Any
_legacy_tensor: Any
_load_ops: Any
_load_program: Any
_lock_while_written: Any
_make_subclass: Any
_names: Any
_op_name: Any
_over_storage: Any
_parse_program: Any
_pop_packer: Any
_print: Any
_promoted: Any
_push_packer: Any
_put_grad: Any
_random_state: Any
_reasons: Any
_record_function: Any
_record_if: Any
_record_while: Any
_recording: Any
_resize: Any
_result_type: Any
_retain_grad: Any
_same_tensor: Any
_save_tensor: Any
_set_check_nan: Any
_set_grad_enabled: Any
_set_random_state: Any
_site: Any
_stands_for_array: Any
_storage: Any
_symbolic: Any
_temporary_path: Any
_to_bytes: Any
_to_dlpack: Any
_to_dtype: Any
_tracing: Any
_tracked_below: Any
_unrecorded: Any
