"""Exceptions that come from outside of the code that they stop."""


def is_sent(problem):
    """Did it come from outside, as Ctrl-C does, or whatever a handler of signals raises?"""
    import signal

    handlers = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        for f in (handler, vars(type(handler)).get("__call__")):
            handlers.add(getattr(getattr(f, "__func__", f), "__code__", None))
    handlers.discard(None)
    where = problem.__traceback__
    while where.tb_frame.f_code not in handlers and where.tb_next is not None:
        where = where.tb_next
    code = where.tb_frame.f_code
    if code in handlers:
        return True
    # Nothing but a statement raises these from inside.
    return not isinstance(problem, Exception) and not _is_raised(code, where.tb_lasti)


def _is_raised(code, at):
    from opcode import opname

    return opname[code.co_code[at]] == "RAISE_VARARGS"
