"""Objects with instructions beyond the baseline export one table and nothing that the linker could pick by chance.

A weak symbol (an inline function of a header) that was compiled with AVX may be kept for the whole program, and a
static initialiser runs before the CPU was asked; either crashes older CPUs.
"""
import pathlib
import re
import subprocess

from findings import Findings

WEAK = {"W": "weak", "V": "weak", "u": "unique"}


def check(root, build):
    findings = Findings()
    for path in sorted(pathlib.Path(build).rglob("*.o")):
        if re.search(r"/src/device/cpu/kernels/", path.as_posix()):
            findings.looked_at += 1
            _check_object(path, path.relative_to(build), findings)
    return findings


def _check_object(path, shown, findings):
    for line in _output("nm", "--demangle", path).splitlines():
        match = re.match(r"[0-9a-f]*\s*([a-zA-Z])\s+(.*)", line)
        if match and match.group(1) in WEAK:
            findings.error(shown, 1, f"{WEAK[match.group(1)]} symbol {match.group(2)}")
    for section in re.findall(r"\s(\.init_array\S*|\.ctors\S*|\.preinit_array\S*)", _output("readelf", "-SW", path)):
        findings.error(shown, 1, f"section {section}: something is initialised before main")


def _output(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
