"""Names, endings and habits that no compiler checks."""
import pathlib
import re

import cpp_scan
from findings import Findings

VAGUE = ("util", "utils", "common", "helper", "helpers", "manager", "managers", "misc")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
# Only app/ talks to the terminal and the environment; base/log.cpp and base/check.cpp write for everybody.
LOUD = re.compile(r"\bstd::(cout|cerr|exit|getenv|quick_exit)\b|(?<![\w.>])(printf|puts|getenv|exit|_exit)\s*\(|\bstdout\b")
MAY_BE_LOUD = ("src/app/", "src/base/log.cpp", "src/base/check.cpp")


def check(root):
    root = pathlib.Path(root)
    findings = Findings()
    for folder in ("src", "tests", "tools", "bench"):
        for path in cpp_scan.source_files(root / folder):
            findings.looked_at += 1
            _check_file(path, path.relative_to(root), findings)
    return findings


def _check_file(path, shown, findings):
    for part in (*shown.parts[:-1], shown.stem):
        if any(word in VAGUE for word in part.lower().split("_")):
            findings.error(shown, 1, f"the name {part} says nothing; name what the file is about")
    text = path.read_text()
    for line, name in cpp_scan.scan(text).namespaces:
        if any(word in VAGUE for part in name.split("::") for word in part.split("_")):
            findings.error(shown, line, f"the namespace {name} says nothing; name what it is about")
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            findings.error(shown, number, "unfinished work is not landed; finish it or file it")
    if shown.as_posix().startswith("src/") and not shown.as_posix().startswith(MAY_BE_LOUD):
        _check_quiet(shown, text, findings)
    if shown.suffix == ".cpp" and shown.as_posix().startswith("src/"):
        _check_own_header_first(path, shown, text, findings)


def _check_quiet(shown, text, findings):
    for number, line in enumerate(cpp_scan.blank(text).splitlines(), 1):
        loud = LOUD.search(line)
        if loud:
            findings.error(shown, number, f"{loud.group(0).strip()}: only app/ prints, exits or reads the environment")


def _check_own_header_first(path, shown, text, findings):
    """x.cpp begins with x.hpp, so the build proves that the header stands alone."""
    if not path.with_suffix(".hpp").is_file():
        return
    own = shown.with_suffix(".hpp").relative_to("src").as_posix()
    found = cpp_scan.includes(text)
    if not found or found[0][2] != own:
        findings.error(shown, found[0][0] if found else 1, f'the first include must be "{own}"')
