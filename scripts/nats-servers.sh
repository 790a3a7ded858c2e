#!/usr/bin/env bash
# Brings the nats-servers that the tests and the known answers are played on, each into a folder of
# its own, and prints the variables that name them: eval "$(scripts/nats-servers.sh .lockstep/nats)"
# What is there already stays. 2.9.10 is Debian bookworm's package, or built where there is none.
set -euo pipefail
if [ $# -ne 1 ] || [ -z "$1" ]; then
  echo "usage: ${0##*/} DIRECTORY" >&2
  exit 64
fi
mkdir -p "$1"
root=$(cd "$1" && pwd)

# has VERSION: whether its folder holds a server that says it is this version.
has() {
  [ -x "$root/$1/nats-server" ] && "$root/$1/nats-server" --version | grep -qF "v$1"
}

built() {
  GOBIN="$root/$1" go install "github.com/nats-io/nats-server/v2@v$1" >&2
}

packaged() {
  local unpacked
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || return 1
  unpacked=$(mktemp -d)
  (
    cd "$unpacked"
    apt-get download nats-server || { apt-get update && apt-get download nats-server; }
    dpkg -x nats-server_*.deb .
    mkdir -p "$root/$1"
    cp usr/sbin/nats-server "$root/$1/"
  ) >&2 || true
  rm -rf "$unpacked"
  has "$1"
}

# name VARIABLE VERSION: prints the variable, whose server must be there by now.
name() {
  has "$2" || { echo "${0##*/}: nats-server $2 did not arrive" >&2; exit 1; }
  printf 'export %s=%q\n' "$1" "$root/$2/nats-server"
}

has 2.9.10 || packaged 2.9.10 || built 2.9.10
for version in 2.14.0 2.15.2; do
  has "$version" || built "$version"
done
name LOCKSTEP_NATS_SERVER 2.15.2
name LOCKSTEP_NATS_SERVER_2_14_0 2.14.0
name LOCKSTEP_NATS_SERVER_2_9_10 2.9.10
