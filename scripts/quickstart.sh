#!/usr/bin/env bash
# From a fresh clone to an answer: installs what is missing, builds the program and asks the demo model a question.
#   quickstart.sh [QUESTION]
set -euo pipefail
cd "$(dirname "$0")/.."

question="${1:-Was ist python3-numpy?}"
scripts/install_packages.sh run

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
echo "building luce-spark (a few minutes the first time) ..."
if ! { cmake --preset release -DLUCE_BUILD_TESTS=OFF && cmake --build --preset release --target luce-spark; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "quickstart.sh: the build failed, its last lines are above" >&2
  exit 1
fi

echo "\$ build/release/luce-spark run -p \"$question\""
build/release/luce-spark run -p "$question"
