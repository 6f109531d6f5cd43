#!/usr/bin/env bash
# What must pass before a change is landed: formatting, clang-tidy, lone headers, build, tests with structure checks.
# Warnings of the size check are shown at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh test
cmake --workflow --preset check
python3 tests/structure/check_structure.py --root . --warnings sizes
