#!/usr/bin/env bash
# From a fresh clone to passed tests: installs what is missing, builds everything and runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh test
cmake --preset release
cmake --build --preset release
ctest --preset release -j "$(nproc)"
