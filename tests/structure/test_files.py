"""Every test can fail: it asserts something itself or through a function that does, and none is skipped."""
import pathlib
import re

import cpp_scan
from findings import Findings

TEST_MACRO = re.compile(r"(TYPED_)?TEST(_F|_P)?$")
ASSERTION = re.compile(r"\b(EXPECT|ASSERT)_[A-Z_]+\s*\(|\b(FAIL|ADD_FAILURE|ADD_FAILURE_AT|GTEST_FAIL)\s*\(")
SKIP = re.compile(r"\bGTEST_SKIP\b|\bDISABLED_\w+")


def check(root):
    root = pathlib.Path(root)
    findings = Findings()
    shared = [p for p in cpp_scan.source_files(root / "tests") if not p.stem.endswith("_test")]
    support = [f for p in shared for f in cpp_scan.scan(p.read_text()).functions]
    for path in cpp_scan.source_files(root / "tests"):
        if path.stem.endswith("_test"):
            findings.looked_at += 1
            _check_file(path, path.relative_to(root), support, findings)
    return findings


def _check_file(path, shown, support, findings):
    text = path.read_text()
    for number, line in enumerate(cpp_scan.blank(text).splitlines(), 1):
        if SKIP.search(line):
            findings.error(shown, number, "a skipped test proves nothing")
    functions = cpp_scan.scan(text).functions
    tests = [f for f in functions if TEST_MACRO.match(f.name)]
    if not tests:
        findings.error(shown, 1, "the file has no test")
    asserting = _asserting_names([f for f in functions if f not in tests] + support)
    for test in tests:
        if not _asserts(test, asserting):
            findings.error(shown, test.first_line, "the test asserts nothing, so it cannot fail")


def _asserts(function, asserting):
    called = set(re.findall(r"\b(\w+)\s*(?:<[^<>]*>)?\s*\(", function.body)) | set(re.findall(r"\b([A-Z]\w+)\b", function.body))
    return bool(ASSERTION.search(function.body)) or bool(called & asserting)


def _asserting_names(functions):
    """Names of the functions that assert, directly or through others."""
    names = set()
    while True:
        more = {f.name.split("::")[-1] for f in functions if _asserts(f, names)}
        if more <= names:
            return names
        names |= more
