#!/usr/bin/env bash
# Runs a command under another major version of Node, which npm brings: with-node.sh 22 npm test
set -euo pipefail
if [ $# -lt 2 ] || [[ ! $1 =~ ^[0-9]+(\.[0-9]+){0,2}$ ]]; then
  echo "usage: ${0##*/} VERSION COMMAND [ARGUMENT]..." >&2
  exit 64
fi
version=$1
shift
# After `--` npx looks the command up in its own PATH, where this version of node comes first.
exec npx --yes --package "node@$version" -- "$@"
