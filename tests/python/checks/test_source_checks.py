"""The checks that read sources: each finds what was planted, and nothing where nothing was."""

import pytest

import derivatives
import doc_width
import environment
import file_names
import format as format_check
import layers
import lint
import machine_words
import op_names
import sizes
import third_party
import tolerances
import words


def problems(check, planted):
    return check.check(planted.tree).problems


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("core/a.cpp", '"kernels/table.h"'),
        ("core/a.h", '"graph/ir.h"'),
        ("kernels/a.cpp", '"graph/ir.h"'),
        ("graph/a.cpp", '"kernels/table.h"'),
        ("graph/a.cpp", '"autodiff/tape.h"'),
        ("autodiff/a.cpp", '"jit/plan.h"'),
        ("jit/a.cpp", '"capi/handle.h"'),
        ("jit/a.cpp", '"python/bindings/tensor.h"'),
        ("core/a.cpp", "<Eigen/Dense>"),
        ("kernels/own/a.cpp", "<oneapi/dnnl/dnnl.hpp>"),
        ("kernels/onednn/a.cpp", "<cblas.h>"),
        ("kernels/a.cpp", '"kernels/onednn/cache.h"'),
        ("jit/a.cpp", "<llvm/IR/IRBuilder.h>"),
        ("jit/a.cpp", '"jit/llvm/emit.h"'),
        ("graph/a.cpp", "<Python.h>"),
        ("core/a.h", "<immintrin.h>"),
        ("core/a.h", '"lathe/lathe.h"'),
        ("core/a.h", "<gtest/gtest.h>"),
        ("core/a.h", '"tensor.h"'),
        ("core/a.h", "<boost/any.hpp>"),
        ("include/lathe/ops/math.h", "<absl/strings/str_cat.h>"),
        ("include/lathe/lathe.hpp", '"core/tensor.h"'),
        ("graph/a.cpp", '"generated/plugins_built.h"'),
    ],
)
def test_layers_finds(planted, path, include):
    found = problems(layers, planted.write(path, f"#pragma once\n#include {include}\n"))
    assert len(found) == 1
    assert found[0].startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    ("path", "include"),
    [
        ("core/ops/a.cpp", '"core/tensor/tensor.h"'),
        ("core/a.cpp", '"lathe/ops/math.h"'),
        ("core/a.cpp", "<absl/types/span.h>"),
        ("core/a.cpp", "<sys/mman.h>"),
        ("kernels/own/a.cpp", '"core/tensor/tensor.h"'),
        ("kernels/simd/avx2.cpp", "<immintrin.h>"),
        ("kernels/onednn/a.cpp", '"kernels/onednn/cache.h"'),
        ("kernels/onednn/a.cpp", "<oneapi/dnnl/dnnl.hpp>"),
        ("jit/llvm/a.cpp", "<llvm/IR/IRBuilder.h>"),
        ("capi/a.cpp", '"lathe/lathe.h"'),
        ("python/bindings/a.cpp", "<nanobind/nanobind.h>"),
        ("core/base/a.cpp", '"core/base/b.h"  // not "jit/plan.h"'),
    ],
)
def test_layers_allows(planted, path, include):
    assert problems(layers, planted.write(path, f"#include {include}\n")) == []


def test_layers_reads_no_comments(planted):
    text = '/*\n#include "jit/plan.h"\n*/\n// #include "jit/plan.h"\n'
    assert problems(layers, planted.write("core/a.cpp", text)) == []


RING = {
    "core/base/a.h": "core/base/b.h",
    "core/base/b.cpp": "core/base/c.h",
    "core/base/c.h": "core/base/a.h",
}


def test_layers_finds_a_cycle_of_components(planted):
    """No header includes itself here: the pair b.h and b.cpp closes the ring."""
    planted.write("core/base/b.h", "int b;\n")
    for path, include in RING.items():
        planted.write(path, f'#include "{include}"\n')
    found = problems(layers, planted)
    assert "a cycle of includes: core/base/a core/base/b core/base/c" in found[0]
    assert "    core/base/b -> core/base/c (core/base/b.cpp:1)" in found and len(found) == 4
    planted.write("core/base/b.cpp", "int c;\n")
    assert problems(layers, planted) == []


@pytest.mark.parametrize(
    ("path", "target", "why"),
    [
        ("core/base/a.cpp", "core/op/op.h", "may not see core/op/"),
        ("core/op/a.cpp", "core/dispatch/call.h", "may not see core/dispatch/"),
        ("core/new/a.cpp", "core/base/a.h", "has no place in ROOMS"),
        ("kernels/simd/a.cpp", "kernels/executor.h", "may not see kernels//"),
        ("python/bindings/a.cpp", "core/dispatch/in_place.h", "private to core/dispatch/"),
    ],
)
def test_layers_reads_rooms(planted, path, target, why):
    (found,) = problems(layers, planted.write(path, f'#include "{target}"\n'))
    assert why in found
    below = planted.write(path, '#include "core/base/error.h"\n')
    assert len(problems(layers, below)) == (1 if "new" in path else 0)


def body(lines):
    return "".join(f"  use({i});\n" for i in range(lines))


@pytest.mark.parametrize(
    "head",
    [
        "int f(int a)",
        "template <class T>\nauto g(T a) -> decltype(a)",
        "Foo::Foo(int a) : a_(a), b_{a}",
        "bool operator<(const A& a, const A& b) noexcept",
        "template <class T, template <class> class U>\nU<T> Foo<T>::bar(T a)",
        "class Foo* make(int a)",
        "static std::vector<int> h(\n    int a, int b) const&",
    ],
)
def test_sizes_finds_a_long_function(planted, head):
    text = f"namespace a {{\nint x[] = {{1, 2}};\n\n{head} {{\n{body(110)}}}\n}}  // namespace a\n"
    found = problems(sizes, planted.write("core/a.cpp", text))
    assert len(found) == 1, found
    assert found[0].startswith("core/a.cpp:4: ")


def test_sizes_finds_a_long_method(planted):
    text = "template <class T>\nclass alignas(64) A final : public B<T> {\n"
    text += f"  int m() const override {{\n{body(110)}  }}\n}};\n"
    found = problems(sizes, planted.write("core/a.h", text))
    assert len(found) == 1
    assert found[0].startswith("core/a.h:3: m has 112 lines")


def test_sizes_allows_long_classes_tables_and_enums(planted):
    values = "".join(f"  e{i},\n" for i in range(150))
    text = f"struct A {{\n{body(150)}}};\nconst Row rows[] = {{\n{body(150)}}};\n"
    text += f"enum class E : int {{\n{values}}};\n"
    text += "void f() {\n  auto s = \"{{{\";  // {{{\n  char c = '{';\n}\n"
    assert problems(sizes, planted.write("core/a.cpp", text)) == []


def test_sizes_finds_long_files_and_python_functions(planted):
    planted.write("core/long.h", "\n" * 1001).write("core/some.h", "\n" * 700)
    planted.write("python/lathe/a.py", "def f():\n" + "    pass\n" * 101)
    result = sizes.check(planted.tree)
    assert [p.split(":")[0] for p in result.problems] == ["core/long.h", "python/lathe/a.py"]
    assert len(result.notes) == 1


def test_op_names_finds_literals(planted):
    planted.write("core/ops/unary.cpp", 'auto a = "relu";\n')
    planted.write("graph/fuse.cpp", 'bool f(Name n) { return n == "relu"; }\n')
    planted.write("python/lathe/nn.py", '"""relu"""\n\n\ndef f(n):\n    return n == "relu"\n')
    found = problems(op_names, planted)
    assert [p.split(": ")[0] for p in found] == ["graph/fuse.cpp:1", "python/lathe/nn.py:5"]


def test_op_names_knows_schemas_that_no_literal_holds():
    """Of a name and a tail, over several lines, of a contraction's formula, with a full name."""
    assert {"zeros_like", "max_pool2d", "convolution2d_d0", "max.dim"} <= op_names.op_names()


def test_op_names_allows(planted):
    planted.write("graph/rules/relu.cpp", 'auto a = "relu";\n')
    planted.write("kernels/onednn/entries.cpp", 'auto a = "relu";\n')
    planted.write("include/lathe/ops/unary.h", 'auto a = "relu";\n')
    planted.write("tests/cpp/a_test.cpp", 'auto a = "relu";\n')
    text = 'auto a = "relus";  // "relu"\nauto b = "relu";  // not an op: x\n'
    planted.write("graph/a.cpp", text)
    assert problems(op_names, planted) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("jit/a.cpp", 'auto a = std::getenv("HOME");\n'),
        ("core/a.cpp", "extern char** environ;\n"),
        ("python/lathe/a.py", "import os\nx = os.environ.get('HOME')\n"),
    ],
)
def test_environment(planted, path, text):
    planted.write("core/base/flags.cpp", "auto a = getenv(name);  // allowed here\n")
    planted.write("core/b.cpp", "// getenv is called in flags.cpp\n")
    assert problems(environment, planted) == []
    assert len(problems(environment, planted.write(path, text))) == 1


@pytest.mark.parametrize(
    "text", ["EXPECT_NEAR(a, b, 1e-3);", "f(a, b, rtol=1e-3)", "allclose(a, b)"]
)
def test_tolerances(planted, text):
    planted.write("tests/cpp/a_test.cpp", text)
    assert problems(tolerances, planted) == []
    assert len(problems(tolerances, planted.write("tests/bits/a_test.cpp", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "see /" + "root/x/y",
        "cd /" + "home/someone/src",
        "https://py" + "pi.org/simple",
        "pip install --index" + "-url https",
        "Co-" + "Authored-By: x",
    ],
)
def test_machine_words(planted, text):
    planted.write("docs/a.md", "a relative path/root/is fine, $HOME/work/ too\n")
    assert problems(machine_words, planted) == []
    assert len(problems(machine_words, planted.write("docs/b.md", text))) == 1


FILES = {"core/op.h": "", "jit/plan.cpp": "", "tests/x.py": "", "tests/cpp/a_test.cpp": ""}


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("core/a.h", "int a;\n/* as in core/gone.h */\n", 2),
        ("core/a.cpp", "// see\n// plan.cpp and gone.cpp\n", 2),
        ("tests/a.py", 'def f():\n    """What\n\n    gone.py holds."""\n', 4),
        ("tests/b.py", "x = 1  # as in tests/gone.py\n", 1),
        ("docs/a.md", "| file |\n|---|\n| `core/gone.h`: none |\n", 3),
        ("cmake/a.cmake", "set(x)\n# gone.txt\n", 2),
        ("dev", "# gone.sh\n", 1),
        ("docs/b.md", "tests/cpp/gone_*.cpp\n", 1),
        ("docs/b.md", "`core/gone/`\n", 1),
    ],
)
def test_file_names(planted, path, text, line):
    for file, content in FILES.items():
        planted.write(file, content)
    planted.write(
        "core/op.h", '// core/op.h, op.h, plan.cpp; <vector.h>, <oneapi/dnnl.h>\nf("gone.h");\n'
    )
    planted.write("docs/ok.md", "`tests/x.py`, tests/cpp/*_test.cpp, `cpp/`\n```\ntrain.py\n```\n")
    planted.write("tests/x.py", 'f("gone.py")\nx = """gone.py"""\n')
    assert problems(file_names, planted) == []
    (found,) = problems(file_names, planted.write(path, text))
    assert found.startswith(f"{path}:{line}: no such file: ") and "gone" in found


def test_doc_width(planted):
    planted.write("docs/a.md", "a" * 120 + "\n|" + "b" * 200 + "|\n").write("core/a.h", "c" * 200)
    assert problems(doc_width, planted) == []
    found = problems(doc_width, planted.write("docs/b.md", "\n" + "a" * 121 + "\n"))
    assert found == ["docs/b.md:2: 121 columns, above 120"]


def test_third_party(planted):
    planted.write("third_party/README.md", "`g++` `numpy`\n").write(
        "third_party/apt.txt", "g++  # c\n"
    )
    planted.write("third_party/requirements.in", "numpy\n")
    planted.write("third_party/requirements.txt", "# c\nnumpy==2.0\n")
    assert problems(third_party, planted) == []
    planted.write("third_party/requirements.in", "numpy\npytest\n").write(
        "third_party/requirements.txt", "numpy>=2\n"
    )
    assert len(problems(third_party, planted)) == 3


def test_third_party_reads_every_list(planted):
    planted.write("third_party/README.md", "`g++` `sphinx` `chromium`\n")
    planted.write("third_party/apt.txt", "g++\n").write("third_party/apt-docs.txt", "chromium\n")
    planted.write("third_party/requirements-docs.in", "sphinx\n")
    planted.write("third_party/requirements-docs.txt", "sphinx==9.0\n")
    assert problems(third_party, planted) == []
    planted.write("third_party/apt-docs.txt", "firefox\n")
    planted.write("third_party/requirements-docs.txt", "docutils>=1\n")
    assert len(problems(third_party, planted)) == 3


def test_format(planted):
    planted.write(".clang-format", "BasedOnStyle: Google\n")
    planted.write("core/a.cpp", "int a = 1;\n").write("tests/a.py", "a = 1\n")
    assert problems(format_check, planted) == []
    planted.write("core/b.cpp", "int  a=1 ;\n").write("tests/b.py", "a  = 1\n")
    assert len(problems(format_check, planted)) == 2


@pytest.mark.parametrize(
    ("heading", "good"),
    [
        ("// ── words ─────────────────\n", True),
        ("  // ── words: in a class ──\n", True),
        ("/* ── words ─── */\n", True),
        ("// ── words\n// ───────────────────\n", False),
        ("// ── words\n// ─────── Of what follows.\n", False),
        ("// ───────────────────\n", False),
    ],
)
def test_headings(planted, heading, good):
    planted.write("core/a.cpp", heading)
    found = format_check.broken_headings(planted.tree, "core/a.cpp")
    assert (found == []) == good


def test_lint(planted):
    planted.write("tests/a.py", "import os\n\nprint(os.sep)\n").write("a.sh", "echo\n")
    assert problems(lint, planted) == []
    planted.write("tests/b.py", "import os\n").write("b.sh", "if true; then\n")
    assert len(problems(lint, planted)) == 2


ROW = (
    "void rows(Definitions& r) {\n"
    "  r.reduce(schema, sum, {.grad = [](Grad g) { return g.dy(); }});\n}\n"
)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("autodiff/rules.cpp", ROW),
        ("graph/differentiate.cpp", "void f(Extra& e) {\n  e.grad = relu_backward;\n}\n"),
        ("jit/shapes.cpp", "void f(Extra& e) {\n  e.infer = [](Args a) { return Types(); };\n}\n"),
        (
            "autodiff/backprop.cpp",
            "int f(Kind k) {\n  switch (k) { case Kind::reduce: return 1; }\n}\n",
        ),
        ("autodiff/tape.cpp", "bool f(const Op& op) {\n  return op.kind == Kind::reduce;\n}\n"),
        ("jit/table.h", "int x;\nflat_hash_map<const Op*, GradRule> second;\n"),
    ],
)
def test_derivatives(planted, path, text):
    planted.write("core/ops/reduce.cpp", ROW)
    planted.write(
        "autodiff/a.cpp",
        "int f(Structure s) {\n  switch (s) { case Structure::if_: return 1; }\n}\n",
    )
    assert problems(derivatives, planted) == []
    found = problems(derivatives, planted.write(path, text))
    assert len(found) == 1 and found[0].startswith(f"{path}:2: ")


WORDS = """# list
pages comments texts | \\bop rows?\\b | op definition | row major
pages | \\bstrips\\b | SIMD
"""


def with_words(planted):
    planted.write("tests/checks/words.txt", WORDS)
    return planted.write(
        "docs/glossary.md", "| **trace**, script | records strips |\n| **eager** | a |\n"
    )


@pytest.mark.parametrize(
    "path, text, line",
    [
        ("docs/a.md", "one\nan op\nrow here, trace eager\n", 2),
        ("docs/a.md", "trace, eager: Strips\n", 1),
        ("core/a.h", "// trace eager\nint a;  // an op\n        // row\n", 2),
        ("core/a.h", '// trace eager\nauto a = "op rows";\n', 2),
        ("core/a.py", '"""Trace eager.\n\nAn op row."""\n', 3),
        ("core/a.py", "# trace eager\nprint(\n    'op row')\n", 3),
    ],
)
def test_words_of_the_house_are_found(planted, path, text, line):
    (problem,) = problems(words, with_words(planted).write(path, text))
    assert problem.startswith(f"{path}:{line}: '") and "the field says" in problem


def test_words_are_left_to_code_and_to_what_is_allowed(planted):
    with_words(planted).write(
        "docs/a.md", "eager `op row`\n\n```\nop row\n```\n\n    strips\n\ntraces\n"
    )
    planted.write("core/a.h", "int op_row;  // strips\n").write(
        "core/a.cpp", "int op, row, strips;\n"
    )
    assert problems(words, planted) == []
    (problem,) = problems(words, planted.write("tests/checks/words.txt", "page | a | b\n"))
    assert "tests/checks/words.txt:1: not 'PLACES" in problem


def test_a_glossary_word_that_nobody_uses(planted):
    (problem,) = problems(words, with_words(planted).write("docs/a.md", "A trace.\n"))
    assert problem == "docs/glossary.md:2: 'eager' is used nowhere"
