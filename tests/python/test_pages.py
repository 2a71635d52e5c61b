"""What newcomers read: the code runs, the links lead somewhere, the README stays short."""

import re
import subprocess
import sys
import textwrap

import pytest
from built import LIBRARY, ROOT, SANITIZED

README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

# The programs compiled here are built without a sanitizer.
not_under_sanitizers = pytest.mark.skipif(SANITIZED, reason="the program is not instrumented")


def blocks(kind, page=README):
    return re.findall(rf"```{kind}\n(.*?)```", page, re.S)


def compile_with_lathe(code, folder):
    if not (LIBRARY / "liblathe.so").exists():
        pytest.skip("liblathe.so was not built")
    (folder / "main.cpp").write_text(code)
    subprocess.run(
        ["g++", "-std=c++17", "-I", ROOT / "include", "main.cpp", "-o", "main", f"-L{LIBRARY}",
         "-llathe", f"-Wl,-rpath,{LIBRARY}"],
        cwd=folder, check=True,
    )  # fmt: skip
    return subprocess.run([folder / "main"], cwd=folder).returncode


def test_the_readme_is_short():
    lines = README.splitlines()
    assert next(n for n, line in enumerate(lines, 1) if line.startswith("```")) <= 15
    start = lines.index("## Three uses")
    end = next(n for n in range(start + 1, len(lines)) if lines[n].startswith("## "))
    assert end - start <= 40
    assert "./dev demo" in README and "./dev test" in README


@not_under_sanitizers
def test_the_readme_runs(tmp_path):
    code = "\n".join(blocks("python"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tensor([[ 7., 11.],\n        [ 9., 13.]])")
    include, rest = blocks("cpp")[0].split("\n", 1)
    code = (
        f"{include}\nint main() {{\n{rest}\n"
        "  return layer(x, lathe::ops::ones({4, 2}), y).values<float>().size() == 2 ? 0 : 1;\n}\n"
    )
    assert compile_with_lathe(code, tmp_path) == 0


def run_page(page, folder):
    """Runs a page's blocks of Python as one program, and compares what it prints with its text."""
    text = (ROOT / page).read_text()
    program = folder / (page.split("/")[-1].removesuffix(".md").replace("-", "_") + ".py")
    program.write_text("\n".join(blocks("python", text)))
    done = subprocess.run(
        [sys.executable, program.name], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace(f"{folder}/", "") == "".join(blocks("text", text))
    return text


@not_under_sanitizers
@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/howto/embed-in-cpp.md"])
def test_a_page_and_its_program_in_cpp_run(page, tmp_path):
    text = run_page(page, tmp_path)
    assert compile_with_lathe(blocks("cpp", text)[0], tmp_path) == 0


@pytest.mark.parametrize("page", ["debug-a-trace", "profile", "rewrite-rules"])
def test_a_page_prints_what_it_says(page, tmp_path):
    run_page(f"docs/howto/{page}.md", tmp_path)


def test_what_pages_quote_stands_in_the_tree():
    """A page that shows how something is added shows what is there."""
    folders = ("core", "graph", "kernels", "tests/cpp", "tests/ir")
    files = [p for f in folders for p in (ROOT / f).rglob("*") if p.is_file()]
    lines = {line.strip() for p in files for line in p.read_text().splitlines()}
    quoted = 0
    for name in ("add-a-pass", "add-a-kernel", "add-a-vendor"):
        page = (ROOT / f"docs/howto/{name}.md").read_text()
        for kind in ("cpp", "text", "cmake"):
            for line in "\n".join(textwrap.dedent(b) for b in blocks(kind, page)).splitlines():
                assert not line or line.strip() in lines, f"{name}: {line}"
                quoted += 1
    assert quoted > 25


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_files_are_there(page):
    text = page.read_text()
    bare = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", bare):
        assert "://" in target or (page.parent / target).exists(), target
    top = {p.name for p in ROOT.iterdir()}
    for path in re.findall(r"`([\w.-]+/[\w./-]+\.(?:cpp|h|hpp|py|md|txt|sh))`", bare):
        if path.split("/")[0] in top:
            assert (ROOT / path).exists(), path


def test_every_check_that_the_page_names_is_there():
    page = (ROOT / "docs/checks.md").read_text()
    tests = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tests").rglob("*.cpp")]
    text = "\n".join(p.read_text() for p in tests)
    names = set(re.findall(r"`([^`]+)`", page))
    for name in names:
        if name.startswith("./dev check "):
            module = name.removeprefix("./dev check ")
            assert (ROOT / f"tests/checks/{module}.py").exists(), name
            assert module in (ROOT / "tests/checks/run.py").read_text(), name
        elif name.startswith("test_"):
            assert re.search(rf"def {name}\b", text), name
        elif re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", name):
            suite, case = name.split(".")
            assert re.search(rf"TEST(_[FP])?\({suite},\s*{case}\)", text), name
    assert len([n for n in names if n.startswith(("test_", "./dev check "))]) > 30
