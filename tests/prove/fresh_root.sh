#!/usr/bin/env bash
# A Debian root that has only git, a clean clone of this commit in it, and there ./dev demo, ./dev test and
# .ci/run, with the time of each; with --short only ./dev demo, from nothing to its last line. Needs root and
# some GB.
#
#   tests/prove/fresh_root.sh [--short] [--keep] [FOLDER]
#
# What the new root needs to reach packages is taken from this machine as it is at run time: apt's sources and
# settings, pip's settings, the certificates, and the variables that name them. Nothing of it is kept in the tree.
set -euo pipefail

tree=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
keep= short=
[ "${1:-}" = --short ] && { short=1; shift; }
[ "${1:-}" = --keep ] && { keep=1; shift; }
root=${1:-$(mktemp -d)}/debian
release=bookworm
certificates=/etc/ssl/outside.crt   # where the bundle of this machine lies in the new root

say() { printf 'fresh root: %s\n' "$*"; }
die() { say "$*"; exit 1; }

# The first address that apt has for this release's main part.
mirror() {
  apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 2>/dev/null |
    awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }'
}

clean() {
  local place
  for place in dev/shm dev proc; do
    if mountpoint -q "$root/$place"; then umount --lazy "$root/$place" || return; fi   # never rm -r what is mounted
  done
  [ -n "$keep" ] || rm -rf --one-file-system "$root"
}

make_root() {
  local from bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
  from=$(mirror)
  [ -n "$from" ] || die "apt on this machine has no source for $release main"
  debootstrap --variant=minbase --include=ca-certificates,git "$release" "$root" "$from" >"$root.log" 2>&1 ||
    { tail -5 "$root.log"; die "debootstrap failed (whole log: $root.log)"; }
  rm -f "$root/etc/apt/sources.list"
  cp -a /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/"
  [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$root/etc/apt/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  [ ! -e "$bundle" ] || cp "$bundle" "$root$certificates"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
}

# Variables that say how packages are reached; those that name the certificates, with their new place.
settings() {
  local name value
  while IFS='=' read -r name value; do
    case "$name" in
      PIP_FIND_LINKS) ;;   # a folder of this machine
      PIP_CERT | SSL_CERT_FILE | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE) echo "$name=$certificates" ;;
      PIP_* | [a-z]*_proxy | [A-Z]*_PROXY) echo "$name=$value" ;;
    esac
  done < <(env)
}

inside() {   # inside COMMAND: in the clone in the new root, with hardly any environment
  local -a known
  mapfile -t known < <(settings)
  chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${known[@]+"${known[@]}"} bash -c "cd /lathe && $1" </dev/null
}

timed() {   # timed WHAT COMMAND...: the seconds of the clock, and of processors, which neighbours change less
  local what=$1 began=$SECONDS TIMEFORMAT="fresh root: $1: %0R s (of processors %0U, and %0S in the kernel)"
  shift
  { time "$@"; } 2>&1 || { say "$what failed after $((SECONDS - began)) s"; exit 1; }
}

[ "$(id -u)" = 0 ] || die "needs root, for chroot"
if ! command -v debootstrap >/dev/null; then
  say "installing the package debootstrap"
  { apt-get -qq update && apt-get -qq -y --no-install-recommends install debootstrap; } >/dev/null ||
    die "apt-get could not install debootstrap"
fi
mkdir -p "$(dirname "$root")"
trap clean EXIT
timed "debootstrap" make_root
git clone -q --no-hardlinks "$tree" "$root/lathe"
say "commit $(git -C "$root/lathe" rev-parse --short HEAD), $(nproc) cores"
timed "./dev demo" inside "./dev demo"
[ -z "$short" ] || exit 0
timed "./dev test" inside "./dev test"
timed ".ci/run" inside ".ci/run"
