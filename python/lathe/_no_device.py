"""What is asked of a kind of device that there is none of: lathe.cuda, lathe.mps and lathe.xpu."""

from . import _lathe


def _off(*_, **__):
    """False: there is no such device."""
    return False


def _none(*_, **__):
    """Nothing: there is no device to do it to."""


def _zero(*_, **__):
    """0: there is no such device."""
    return 0


def _empty(*_, **__):
    """An empty list: there is no such device."""
    return []


def _named(function, name):
    def asked(*args, **kwargs):
        return function(*args, **kwargs)

    asked.__name__ = asked.__qualname__ = name
    asked.__doc__ = function.__doc__
    return asked


_ANSWERS = {
    _off: "is_available is_built is_initialized is_bf16_supported is_tf32_supported "
    "is_current_stream_capturing is_in_bad_fork",
    _none: "synchronize empty_cache manual_seed manual_seed_all seed seed_all ipc_collect "
    "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached "
    "set_rng_state_all",
    _zero: "device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved "
    "memory_cached max_memory_cached",
    _empty: "get_arch_list get_rng_state_all",
}
_REFUSED = (
    "init current_device set_device get_device_name get_device_properties get_device_capability "
    "mem_get_info memory_stats memory_summary current_stream default_stream stream set_stream "
    "get_rng_state set_rng_state initial_seed device device_of Stream Event "
    "set_per_process_memory_fraction CUDAGraph graph"
)


def absent(kind):
    """The functions of the module of that kind."""

    def refusal(name):
        def refused(*_, **__):
            raise _lathe.DeviceError(
                "there is no such device", op=f"{kind}.{name}", got=kind, expected="the cpu",
                next=f"ask {kind}.is_available() first",
            )  # fmt: skip

        refused.__name__ = refused.__qualname__ = name
        refused.__doc__ = "A DeviceError: there is no such device."
        return refused

    found = {name: refusal(name) for name in _REFUSED.split()}
    for function, names in _ANSWERS.items():
        found |= {name: _named(function, name) for name in names.split()}
    return found
