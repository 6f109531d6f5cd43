#!/usr/bin/env bash
# Installs the clients into a folder of the build and runs them against the built program.
# usage: run.sh PROGRAM FOLDER
set -euo pipefail
program=$(realpath "$1")
folder=$2
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$folder"
cp "$here"/*.js "$here"/*.py "$here"/package.json "$here"/.npmrc "$folder"
# Only a changed lock file costs an installation.
if ! cmp -s "$here/package-lock.json" "$folder/package-lock.json" || [ ! -d "$folder/node_modules" ]; then
  cp "$here/package-lock.json" "$folder"
  (cd "$folder" && npm ci --no-fund --no-audit)
fi
cd "$folder"
LUCE_PROGRAM=$program node --test --test-concurrency=1
