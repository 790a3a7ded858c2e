#!/usr/bin/env bash
# Runs a command under another major version of Node, which npm brings: with-node.sh 22 npm test
set -euo pipefail
if [ $# -lt 2 ] || [[ ! $1 =~ ^[0-9]+(\.[0-9]+){0,2}$ ]]; then
  echo "usage: ${0##*/} VERSION COMMAND [ARGUMENT]..." >&2
  exit 64
fi
version=$1
shift
own=$(node -p process.versions.node)
# What is here already needs no network.
if [[ $own. == "$version".* ]]; then exec "$@"; fi
# A registry may not answer once or twice; what it brought stays in npm's cache.
for ((tries = 1; tries < 3; tries++)); do
  if npx --yes --package "node@$version" -- node --version >/dev/null; then break; fi
  echo "${0##*/}: node $version did not arrive, asked again" >&2
done
# After `--` npx looks the command up in its own PATH, where this version of node comes first.
exec npx --yes --package "node@$version" -- "$@"
