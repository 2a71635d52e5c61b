"""The checks that read compile commands and objects: each finds what was planted."""

import pytest

import aborts
import compile_flags
import exports
import headers
import math_symbols
import static_init
import weak_symbols


def problems(check, planted):
    return check.check(planted.tree).problems


def test_compile_flags(planted):
    planted.compile("core/a.cpp", "int a;\n").compile("kernels/simd/avx2.cpp", "int a;\n", "-mavx2")
    assert problems(compile_flags, planted) == []
    planted.compile("core/b.cpp", "int b;\n", contract="-O1")
    planted.compile("core/c.cpp", "int c;\n", "-mavx2")
    planted.compile("core/d.cpp", "int d;\n", "-ffast-math")
    assert len(problems(compile_flags, planted)) == 3


def test_weak_symbols(planted):
    text = "{} __attribute__((noinline)) int f(int a) {{ return a; }}\nint g() {{ return f(1); }}\n"
    planted.compile("kernels/simd/avx2.cpp", text.format("static"), "-mavx2")
    planted.compile("kernels/own/other.cpp", text.format("inline"))
    assert problems(weak_symbols, planted) == []
    planted.compile("kernels/simd/avx512.cpp", text.format("inline"), "-mavx512f")
    assert len(problems(weak_symbols, planted)) == 1


CALLS = "#include <cmath>\nfloat f(float a) {{ return std::{}(a); }}\n"


@pytest.mark.parametrize("name", ["exp", "tanh", "log1p", "sin", "erf", "cbrt"])
def test_math_symbols(planted, name):
    planted.compile("kernels/a.cpp", CALLS.format("floor"))
    assert problems(math_symbols, planted) == []
    planted.compile("kernels/b.cpp", CALLS.format(name))
    assert len(problems(math_symbols, planted)) == 1


def test_math_symbols_fma_and_vector_libraries(planted):
    text = "#include <cmath>\ndouble f(double a) { return std::fma(a, a, a); }\n"
    planted.compile("kernels/simd/portable.cpp", text).compile("core/fold.cpp", text)
    assert problems(math_symbols, planted) == []
    planted.compile("jit/a.cpp", text)
    planted.compile(
        "kernels/b.cpp",
        'extern "C" int _ZGVbN4v_expf(int);\nint a() { return _ZGVbN4v_expf(1); }\n',
    )
    assert len(problems(math_symbols, planted)) == 2


def test_static_init(planted):
    planted.compile("core/a.cpp", "constinit int a = 3;\nint f() { static int b = a; return b; }\n")
    assert problems(static_init, planted) == []
    planted.compile("core/b.cpp", "int make();\nint a = make();\n")
    assert len(problems(static_init, planted)) == 1


def test_exports(planted):
    planted.link("lib/liblathe.so", 'extern "C" int lathe_call() { return 1; }\n')
    assert problems(exports, planted) == []
    planted.link("lib/liblathe_llvm.so", "namespace llvm { int leak() { return 1; } }\n")
    found = problems(exports, planted)
    assert len(found) == 1
    assert "leak" in found[0]


def test_headers(planted):
    planted.write("core/a.h", "#pragma once\n#include <vector>\nstd::vector<int> f();\n")
    planted.compile("core/a.cpp", '#include "a.h"\n')
    assert problems(headers, planted) == []
    planted.write("core/b.h", "#pragma once\nstd::vector<int> f();\n")
    assert len(problems(headers, planted)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "#include <cstdlib>\nvoid f() { std::abort(); }\n",
        "#include <cstdlib>\nvoid f() { std::exit(1); }\n",
        "#include <cassert>\nvoid f(int a) { assert(a == 1); }\n",
        'extern "C" int omp_get_max_threads();\nint f() { return omp_get_max_threads(); }\n',
    ],
)
def test_aborts(planted, text):
    planted.compile("core/a.cpp", "void f() { throw 1; }\n")
    planted.compile(
        "kernels/onednn/b.cpp", 'extern "C" int omp_x();\nint g() { return omp_x(); }\n'
    )
    assert problems(aborts, planted) == []
    assert len(problems(aborts, planted.compile("jit/b.cpp", text))) == 1
