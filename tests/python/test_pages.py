"""What newcomers read: the code runs, the links lead somewhere, the README stays short."""

import re
import subprocess
import sys

import pytest
from built import LIBRARY, ROOT, SANITIZED

README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

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


@not_under_sanitizers
def test_the_tutorial_runs_and_prints_what_it_says(tmp_path):
    page = (ROOT / "docs/tutorial.md").read_text()
    (tmp_path / "tutorial.py").write_text("\n".join(blocks("python", page)))
    done = subprocess.run(
        [sys.executable, "tutorial.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks("text", page))
    assert compile_with_lathe(blocks("cpp", page)[0], tmp_path) == 0


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
