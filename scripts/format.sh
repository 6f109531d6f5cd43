#!/usr/bin/env bash
# Formats every C++ file in place; with --check it changes nothing and fails where formatting is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

options=(-i)
[[ "${1:-}" != --check ]] || options=(--dry-run -Werror)
find src tests bench tools -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' |
  xargs -P "$(nproc)" -n 40 clang-format "${options[@]}"
