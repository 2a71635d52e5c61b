# shellcheck shell=bash disable=SC2154,SC2086  # ./dev sets the variables; lists of packages are words
# Brings what Lathe is built from: apt packages, Abseil, ducc, the Python packages. Sourced by ./dev.
#
# Four steps, each skipped when its result is there already, so that with nothing to do this takes a few
# hundredths of a second:
#   packages  third_party/apt.txt           by apt-get, only the missing ones: the compiler is among them
#   abseil    third_party/abseil.txt        Debian's source package, compiled static for C++20
#   ducc      third_party/ducc.txt          the source distribution of ducc0, unpacked
#   venv      third_party/requirements.txt  a Python environment of our own, beside Abseil
# Tests and checks want tools beside (apt-test.txt), the documentation has lists of its own (apt-docs.txt,
# requirements-docs.txt); each is installed by the first command that needs it, and ./dev setup brings the first.
# Results live outside the checkout, in a folder named by the hash of what went in, so that every clone on a
# machine shares them; .deps/abseil, .deps/ducc and .deps/venv are links to them. LATHE_DEPS names another place. A folder
# counts when its last file, .complete, is there: what was interrupted is removed and made anew by the next run.

deps_store="${LATHE_DEPS:-${XDG_CACHE_HOME:-${HOME:-$root/.deps}/.cache}/lathe}"

hash_of() { sha256sum | cut -c1-12; }   # of what comes in

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "needs root to run: $*   (run it yourself, then ./dev setup again)"; fi
}

setup_packages() {   # setup_packages LIST...: what third_party/LIST names and the machine lacks
  [ -z "${LATHE_SKIP_APT:-}" ] || return 0
  command -v dpkg-query >/dev/null ||
    die "not a Debian system: install what these lists in third_party name, then set LATHE_SKIP_APT=1: $*"
  local wanted missing
  wanted=$(cd "$root/third_party" && sed 's/#.*//' "$@" | xargs)
  missing=$(comm -23 <(tr ' ' '\n' <<<"$wanted" | sort) \
    <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^ii *//p' | sort))
  [ -n "$missing" ] || return 0
  step "Debian packages" "apt-get installs $(xargs <<<"$missing")"
  : >"$logs/apt.log"
  [ -z "$(dpkg --audit)" ] || as_root dpkg --configure -a >>"$logs/apt.log" 2>&1 </dev/null || true   # after Ctrl-C
  as_root apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install $missing >>"$logs/apt.log" 2>&1 </dev/null ||
    { tail -20 "$logs/apt.log"; die "apt-get could not install them (whole log: $logs/apt.log); $again"; }
  done_step
}

# Debian's binary package will not do: it is compiled with ABSL_OPTION_USE_STD_STRING_VIEW=0, so in C++20
# absl::string_view and std::string_view do not convert. The source package is asked for through a private
# copy of the machine's apt sources with deb turned into deb-src; the machine's own settings stay as they are.
fetch_abseil() {
  local apt=$1/apt version file
  version=$(grep -v '^#' "$root/third_party/abseil.txt")
  mkdir -p "$apt"/{sources,lists/partial,cache/archives/partial}
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >"$apt/sources/$(basename "$file" .list).list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$apt/sources/$(basename "$file")"
  done
  local get=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/sources"
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Acquire::Retries=3 -o "APT::Sandbox::User=$(id -un)")
  "${get[@]}" update || true   # a third-party source without source packages is no reason to stop
  (cd "$1" && { "${get[@]}" source "abseil=$version" || {
    say "Abseil $version is no longer offered; taking the newest of the same release"
    "${get[@]}" source abseil; }; }) || return 1
  # Undo Debian's ABI choices, keep its security patches. An inline namespace of our own lets another Abseil
  # live in the same process.
  sed -i -E -e 's/(define ABSL_OPTION_USE_STD_(ANY|OPTIONAL|STRING_VIEW|VARIANT)) .*/\1 1/' \
    -e 's/(define ABSL_OPTION_INLINE_NAMESPACE_NAME) .*/\1 lathe_20220623/' \
    -e 's/(define ABSL_OPTION_HARDENED) .*/\1 0/' "$1"/abseil-*/absl/base/options.h
  # What nothing of ours reaches: a quarter of the files.
  sed -i -E '/^add_subdirectory\((flags|random|status)\)/d' "$1"/abseil-*/absl/CMakeLists.txt
  # flat_hash_map reaches <iostream>, which puts a static constructor into every object.
  find "$1"/abseil-*/absl/strings -name '*.h' -exec sed -i 's/#include <iostream>/#include <ostream>/' {} +
}

build_abseil() {
  local work=$1 prefix=$2 launcher
  launcher=$(command -v ccache || true)
  fetch_abseil "$work" || return 1
  cmake -S "$work"/abseil-20* -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_STANDARD=20 -DABSL_PROPAGATE_CXX_STD=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_CXX_FLAGS="-ffp-contract=off -ffunction-sections -fdata-sections" \
    -DBUILD_TESTING=OFF -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    ${launcher:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher"} || return 1
  CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1 cmake --build "$work/build" -j "$jobs" --target install
}

# pip brings a source distribution only with its metadata, which it asks the distribution's own build backend for;
# that one wants a newer CMake, NumPy and pybind11. A backend of the same name that says what pip already knows
# stands in for it: nothing of the distribution runs, and the hash in the list says that it is the right one.
fetch_ducc() {
  local work=$1 python backend=$1/backend/scikit_build_core
  python=$(choose_python)
  mkdir -p "$backend" "$work/download"
  touch "$backend/__init__.py"
  cat >"$backend/build.py" <<'PYTHON'
import email
import pathlib


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text()
    known = email.message_from_string(text)
    info = pathlib.Path(folder, f"{known['Name']}-{known['Version']}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(text)
    return info.name
PYTHON
  "$python" -m venv "$work/venv" || return 1
  PYTHONPATH="$work/backend" "$work/venv/bin/pip" download --no-input -q --no-deps --no-build-isolation \
    -d "$work/download" -r "$root/third_party/ducc.txt"
}

build_ducc() {
  local work=$1 prefix=$2
  fetch_ducc "$work" || return 1
  mkdir "$prefix"
  tar -xzf "$work"/download/*.tar.gz -C "$prefix" --strip-components=1
}

setup_source() {   # setup_source NAME TITLE WHAT: what build_NAME makes of third_party/NAME.txt, as .deps/NAME
  local prefix work
  prefix="$deps_store/$1-$({ cat "$root/third_party/$1.txt"; declare -f "fetch_$1" "build_$1"; } | hash_of)"
  if [ ! -e "$prefix/.complete" ]; then
    step "$2" "$3"
    work="$prefix.work"
    rm -rf "$prefix" "$work"
    mkdir "$work"
    "build_$1" "$work" "$prefix" >"$logs/$1.log" 2>&1 </dev/null ||
      { tail -20 "$logs/$1.log"; die "$2 did not build (whole log: $logs/$1.log); $again"; }
    rm -rf "$work"
    touch "$prefix/.complete"
    done_step
  fi
  ln -sfn "$prefix" "$root/.deps/$1"
}

setup_abseil() { setup_source abseil "Abseil" "fetches Debian's source package and compiles what Lathe uses of it"; }
setup_ducc() { setup_source ducc "ducc" "fetches its source distribution"; }

# The distribution's Python comes first: python3-dev gives it headers; another python3 on PATH may have none.
choose_python() {
  local p
  for p in "${LATHE_PYTHON:-}" /usr/bin/python3 python3; do
    [ -n "$p" ] && "$p" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo "$p"; return; }
  done
  die "no Python >= 3.10 with the venv module"
}

setup_venv() {   # setup_venv LIST LINK: the environment of third_party/LIST, as .deps/LINK
  local python prefix list="$root/third_party/$1"
  python=$(choose_python)
  prefix="$deps_store/$2-$({ cat "$list"; "$python" -VV; } | hash_of)"
  if [ ! -e "$prefix/.complete" ]; then
    step "Python packages" "pip installs third_party/$1 into an environment"
    rm -rf "$prefix"
    { "$python" -m venv "$prefix" &&
      "$prefix/bin/pip" install --no-input -q -r "$list"; } >"$logs/$2.log" 2>&1 </dev/null ||
      { tail -20 "$logs/$2.log"; die "pip could not install third_party/$1 (whole log: $logs/$2.log); $again"; }
    touch "$prefix/.complete"
    done_step
  fi
  ln -sfn "$prefix" "$root/.deps/$2"
}

locked() {   # locked STEP ...: runs a step alone: two clones may set up at the same time
  exec 9>"$deps_store/.lock-$1"
  flock -n 9 || { say "-- waiting for another clone that is at the same step"; flock 9; }
  "$@"
  exec 9>&-
}

# A signal that reaches a process between its fork and its exec can be lost, so a job's group is told again until
# nothing of it is left, at most for five seconds: where no process 1 reaps them, what has ended stays in its group.
stop_jobs() {
  local job
  for job in $(jobs -p); do
    for _ in {1..100}; do
      kill -- "-$job" 2>/dev/null || break
      sleep 0.05
    done
  done
  wait
}

# Runs commands side by side. Each is a process group of its own: when one fails, or Ctrl-C comes, the others are
# stopped with all that they started. One that fails says so at once: `wait` ends at a signal that has a trap.
side_by_side() {   # side_by_side COMMAND...: each one word, or several in quotes
  local command job jobs_of=() status=0
  trap 'stop_jobs; say "-- stopped; $again"; exit 130' INT TERM HUP
  trap : USR1
  set -m
  for command in "$@"; do
    (trap '[ $? = 0 ] || kill -USR1 $$' EXIT; $command) </dev/null &
    jobs_of+=($!)
  done
  set +m
  for job in "${jobs_of[@]}"; do
    wait "$job" || { status=1; stop_jobs; break; }
  done
  trap - INT TERM HUP USR1
  return "$status"
}

setup() {   # setup [all|package|sources]: everything; what the package and the examples need; what pip cannot bring
  mkdir -p "$deps_store" "$root/.deps" "$logs"
  case "${1:-all}" in
    all) setup_packages apt.txt apt-test.txt ;;
    package) setup_packages apt.txt ;;
    sources) side_by_side "locked setup_abseil" "locked setup_ducc"; return ;;
    *) die "set up what? there are: all, package, sources" ;;
  esac
  side_by_side "locked setup_abseil" "locked setup_ducc" "locked setup_venv requirements.txt venv"
}

# What ./dev docs needs beside: Sphinx, and Chromium where pages are to be rendered.
setup_docs() {
  locked setup_venv requirements-docs.txt docs
  [[ " $* " != *" --render "* ]] || setup_packages apt-docs.txt
}
