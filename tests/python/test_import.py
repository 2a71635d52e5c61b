"""What `import lathe` costs and brings along."""

import os
import pickle
import subprocess
import sys

import pytest
from built import LIBRARY

import lathe as lt


def in_fresh_python(code, **environment):
    environment = os.environ | environment
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_little_is_loaded():
    out = in_fresh_python(
        "import sys, lathe as lt\n"
        "(lt.ones(3) + 1).sum()\n"
        "heavy = {'numpy', 'typing', 'dataclasses', 'inspect', 'ast', 'json'} & set(sys.modules)\n"
        "maps = open('/proc/self/maps').read()\n"
        "libraries = [n for n in ('LLVM', 'llvm', 'libgomp', 'dnnl', 'openblas') if n in maps]\n"
        "print(sorted(heavy), libraries)"
    )
    assert out.strip() == "[] []"


# What a first trace may bring along, beside Lathe itself: small modules, most written in C; and
# what compiling functions with hooks takes.
FIRST_TRACE_IMPORTS = {
    "_bisect", "_collections", "_contextvars", "_functools", "_opcode", "_operator", "_struct",
    "gc", "itertools", "math", "opcode", "types",
}  # fmt: skip
HOOKS_IMPORTS = {
    "_ast", "ast", "collections", "contextlib", "enum", "functools", "keyword", "operator",
    "reprlib",
}  # fmt: skip
UNHOOKED_PARTS = {
    "lathe._capturing", "lathe.jit", "lathe.jit.observe", "lathe.jit.observe.capture",
    "lathe.jit.observe.core", "lathe.jit.observe.names", "lathe.jit.observe.plans",
    "lathe.jit.observe.recording", "lathe.jit.observe.rows", "lathe.jit.observe.unhooked",
    "lathe.jit.trace",
}  # fmt: skip


def test_a_first_trace_imports_nothing_heavy():
    out = in_fresh_python(
        "import sys, lathe as lt\n"
        "before = set(sys.modules)\n"
        "scale = 2.0\n"
        "class Model:\n"
        "    def __init__(self): self.w, self.sizes = lt.ones(3), [1, 2]\n"
        "    def __call__(self, x): return {'y': (x * self.w + scale)[1:], 'n': self.sizes[0]}\n"
        "f = lt.trace(Model())\n"
        "f(lt.ones(3)), f(lt.ones(3))\n"
        "new = set(sys.modules) - before\n"
        "print(*sorted(n for n in new if n.split('.')[0] != 'lathe'))\n"
        "print(*sorted(n for n in new if n.split('.')[0] == 'lathe'))"
    )
    others, own = (set(line.split()) for line in out.splitlines())
    assert others <= FIRST_TRACE_IMPORTS | HOOKS_IMPORTS
    parts = (
        "callbacks", "calls", "class_dicts", "effects", "forms", "functions", "items", "lookups",
        "observer", "of_logging", "of_numpy", "operators", "patterns", "printing", "rewrite",
        "shown", "sourceless", "sources", "symbolic", "texts",
    )  # fmt: skip
    assert own <= {"lathe.jit.arrays", *UNHOOKED_PARTS, *(f"lathe.jit.observe.{p}" for p in parts)}


def test_a_function_of_ops_alone_is_traced_with_few_imports():
    out = in_fresh_python(
        "import sys, lathe as lt\n"
        "before = set(sys.modules)\n"
        "@lt.trace\n"
        "def f(x, y):\n"
        "    for k in range(3): x = lt.tanh(x) * (k + 0.5) + y.sum(0)\n"
        "    return x\n"
        "f(lt.ones(3), lt.ones(2, 3))\n"
        "new = set(sys.modules) - before\n"
        "print(*sorted(n for n in new if n.split('.')[0] != 'lathe'))\n"
        "print(*sorted(n for n in new if n.split('.')[0] == 'lathe'))"
    )
    others, own = (set(line.split()) for line in out.splitlines())
    assert others <= FIRST_TRACE_IMPORTS and own <= UNHOOKED_PARTS


def test_parts_of_jit_come_when_named_and_are_what_they_are():
    out = in_fresh_python(
        "import lathe as lt, lathe.jit\n"
        "from lathe.jit import Scripted\n"
        "print(lathe.jit.script is lt.script, lathe.jit.Scripted is Scripted)\n"
        "print(lathe.jit.freeze is lt.freeze)\n"
        "print(callable(lathe.jit.trace), callable(lathe.jit.script))"
    )
    assert out.split() == ["True"] * 5


def test_a_kernel_of_the_cache_runs_without_llvm(tmp_path):
    program = (
        "import lathe as lt\n"
        "f = lt.trace(lambda x: lt.exp(x) * 2 + x)\n"
        "y = f(lt.arange(1000, dtype=lt.float32))\n"
        "maps = open('/proc/self/maps').read()\n"
        "print(f.counts['generated_runs'], 'lathe_llvm' in maps, y.sum().item())"
    )
    if not (LIBRARY / "liblathe_llvm.so").exists():
        pytest.skip("this build has no LLVM")
    # With the flag engine at llvm code is made at once, and not in the background.
    first = in_fresh_python(program, LATHE_CACHE_DIR=str(tmp_path), LATHE_ENGINE="llvm").split()
    second = in_fresh_python(program, LATHE_CACHE_DIR=str(tmp_path), LATHE_ENGINE="auto").split()
    assert first[:2] == ["1", "True"] and second[:2] == ["1", "False"]
    assert first[2] == second[2]


# What a program may do first with methods, which an import leaves to be made; each prints "True".
FIRST_USES = {
    "class": "print(callable(lt.Tensor.relu))",
    "instance": "print(lt.ones(2).relu().sum().item() == 2)",
    "hasattr": "print(hasattr(lt.Tensor, 'add_') and not hasattr(lt.Tensor, 'no_such'))",
    "dir": "print({'relu', 'add_', 'uniform_', 'real', 'shape'} <= set(dir(lt.Tensor)))",
    "vars": "print('relu' in vars(lt.Tensor))",
    "help": "import pydoc; print('relu(' in pydoc.plain(pydoc.render_doc(lt.Tensor)))",
    "doc": "import inspect; print('max' in inspect.getdoc(lt.Tensor.relu))",
    "subclass": "T = type('T', (lt.Tensor,), {}); print(callable(T.relu) and 'add_' in dir(T))",
    "overriding": "T = type('T', (lt.Tensor,), {'relu': 7}); print(T([1.0]).relu == 7)",
    "parameter": "print(callable(lt.nn.Parameter.relu))",
    "from": "from lathe import Tensor; print(callable(Tensor.relu))",
    "private": "from lathe._lathe import Tensor; print(callable(Tensor.relu))",
    "pickle": "import pickle; print(pickle.loads(b'clathe\\nTensor\\n.').relu is not None)",
    "property": "print(isinstance(vars(lt.Tensor)['real'], property) and lt.ones(1).real == 1)",
    "python's": "print(lt.Tensor.type_as.__code__.co_filename.endswith('_tensor.py'))",
    "custom op": "import tests_of_first_use as t; print(t.answer())",
}


@pytest.mark.parametrize("use", FIRST_USES)
def test_methods_are_there_at_first_use(use, tmp_path):
    (tmp_path / "tests_of_first_use.py").write_text(
        "import lathe as lt\n"
        "@lt.library.custom_op('first_use(Tensor x) -> Tensor', shape=lambda x: x)\n"
        "def copied(x): return x.clone()\n"
        "def answer(): return bool(lt.Tensor.first_use(lt.ones(1)).relu() == 1)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    out = in_fresh_python(f"import lathe as lt; {FIRST_USES[use]}", PYTHONPATH=path)
    assert "True" in out


def test_an_import_makes_no_definition():
    out = in_fresh_python(
        "import lathe as lt\n"
        "print(lt._lathe._is_made('add'), 'relu' in vars(lt._lathe._Tensor), 'Tensor' in dir(lt))\n"
        "lt.ones(1)\n"
        "print(lt._lathe._is_made('add'), 'relu' in vars(lt._lathe._Tensor))"
    )
    assert out.split() == ["False", "False", "True", "True", "True"]


def test_no_thread_is_started():
    out = in_fresh_python("import lathe, os\nprint(len(os.listdir('/proc/self/task')))")
    assert out.strip() == "1"


def test_parts_come_when_named():
    out = in_fresh_python(
        "import sys, lathe as lt\n"
        "before = 'lathe.nn' in sys.modules\n"
        "lt.nn.Linear(1, 1), lt.optim.SGD, lt.autograd.gradcheck, lt.utils.data\n"
        "print(before, 'lathe.nn' in sys.modules)"
    )
    assert out.strip() == "False True"


def test_names():
    assert {"relu", "tensor", "nn", "no_grad", "float32", "save", "ShapeError"} <= set(dir(lt))
    out = in_fresh_python("from lathe import *\nprint(ValueError.__module__, relu.__name__, nn)")
    assert out.startswith("builtins relu <module 'lathe.nn'")


def test_a_program_that_forks_goes_on():
    out = in_fresh_python(
        "import os, lathe as lt\n"
        "x = lt.ones(300, 300)\n"
        "a = (x @ x).sum().item()\n"
        "pid = os.fork()\n"
        "b = (x @ x).sum().item()\n"
        "if pid == 0: os._exit(0 if b == a else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert out.strip() == "0"


def test_threads_share_tensors():
    import threading

    x = lt.ones(200, 200)
    results = []

    def work():
        for _ in range(20):
            y = x @ x
            results.append((y + x).sum().item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 80 and set(results) == {200.0**3 + 200.0**2}


def test_leaving_with_live_objects():
    in_fresh_python(
        "import lathe as lt, atexit\n"
        "x = lt.ones(2, requires_grad=True)\n"
        "x.register_hook(lambda g: g)\n"
        "y = (x * 2).sum()\n"
        "atexit.register(lambda: y.backward())"
    )


@pytest.mark.serial
def test_ctrl_c_stops_backward_and_loses_nothing():
    out = in_fresh_python(
        "import lathe as lt, signal, threading, os, time\n"
        "x = lt.ones(256, 256, requires_grad=True)\n"
        "y = x\n"
        "for _ in range(3000): y = lt.tanh(y * 1.01)\n"
        "loss = y.sum()\n"
        "threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True: loss.backward(retain_graph=True); x.grad = None\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', x.grad is None or x.grad.shape == (256, 256))\n"
        "loss.backward()\n"
        "print(x.grad.shape)"
    )
    assert out.split("\n")[:2] == ["stopped True", "(256, 256)"]


def test_hasattr_searches_for_no_names(monkeypatch):
    """What looks like a name that is not there is searched for when the error is read, once."""
    searches = []
    near = lt._errors.near_names
    monkeypatch.setattr(lt._errors, "near_names", lambda *a: searches.append(a) or near(*a))
    assert not hasattr(lt, "einsumm") and getattr(lt, "softmaxx", None) is None
    with pytest.raises(lt.NameError) as caught:
        lt.softmaxx  # noqa: B018
    error = caught.value
    assert isinstance(error, AttributeError) and error.got == "softmaxx" and searches == []
    assert error.next.startswith("did you mean softmax") and error.next in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (lt.NameError, str(error))
    assert len(searches) == 1
