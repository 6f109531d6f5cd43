#!/bin/sh
# Installs the peer beside this script and compares. Usage: bench/peer/run.sh MODEL [flags of compare.mjs]
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
program=${LUCE_PROGRAM:-$folder/../../build/release/luce-spark}
command -v node >/dev/null || { echo "run.sh: node is missing; install the Debian packages nodejs and npm" >&2; exit 1; }
[ -d "$folder/node_modules/node-llama-cpp" ] || npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund >&2
exec node "$folder/compare.mjs" "$program" "$@"
