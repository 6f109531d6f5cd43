#!/usr/bin/env bash
# Runs clang-tidy on src/ with the compile commands of a build folder:
#   tidy.sh [--changed] [BUILD]     --changed: only files that differ from the branch main
set -euo pipefail
cd "$(dirname "$0")/.."

changed=no
[[ "${1:-}" != --changed ]] || { changed=yes; shift; }
build="${1:-build/release}"

list_files() {
  if [[ $changed == yes ]]; then
    { git diff --name-only --diff-filter=d main -- 'src/*.cpp'; git ls-files --others --exclude-standard -- 'src/*.cpp'; }
  else
    find src -name '*.cpp'
  fi
}

# clang 14 knows neither gcc's target pragmas nor all of its names for CPU features.
tidy_one() {
  output="$(clang-tidy --quiet -p "$1" "$2" 2>&1)" || { sed '/warnings generated\.$/d' <<<"$output"; exit 1; }
}
export -f tidy_one
list_files | grep -v -e '^src/device/cpu/kernels/' -e '^src/device/cpu/isa\.cpp$' | sort -u |
  xargs -r -P "$(nproc)" -I{} bash -c 'tidy_one "$@"' tidy_one "$build" {}
