#!/usr/bin/env bash
# Installs what is missing on a Debian 12 machine:
#   install_packages.sh run    what the program needs to be built
#   install_packages.sh test   also what its tests and checks need (the default)
set -euo pipefail

run_packages=(g++ cmake ninja-build pkg-config
  libfmt-dev libspdlog-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev prometheus-cpp-dev libpcre2-dev
  libutf8proc-dev libedit-dev)
test_packages=(libgtest-dev libgmock-dev python3 clang-format clang-tidy curl)
# Another installation of Node.js than Debian's serves as well.
command -v npm >/dev/null || test_packages+=(nodejs npm)

case "${1:-test}" in
  run) wanted=("${run_packages[@]}") ;;
  test) wanted=("${run_packages[@]}" "${test_packages[@]}") ;;
  *) echo "usage: install_packages.sh [run|test]" >&2; exit 2 ;;
esac

is_installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_packages.sh: this is no Debian system; install by hand what corresponds to: ${wanted[*]}" >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install_packages.sh: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null; }

if ! apt update || ! apt install --no-install-recommends "${missing[@]}"; then
  tail -n 20 "$log" >&2
  echo "install_packages.sh: apt-get failed, its last lines are above; check the network and the package sources" >&2
  exit 1
fi
