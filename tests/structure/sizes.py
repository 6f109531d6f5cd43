"""Files and functions stay near the sizes that DESIGN aims at: a warning above the aim, an error at twice it."""
import pathlib

import cpp_scan
from findings import Findings

FUNCTION_LINES = 30
PARAMETERS = 4
NESTING = 3
HEADER_LINES = 120
SOURCE_LINES = 250
ARCHITECTURE_LINES = 200
KERNEL_LINES = 300
TEST_LINES = 400


def file_aim(shown):
    """Lines that a file should stay within; data tables in it do not count."""
    text = shown.as_posix()
    if not text.startswith("src/"):
        return TEST_LINES
    if text.startswith("src/model/architectures/"):
        return ARCHITECTURE_LINES
    if "/kernels/" in text or shown.suffix == ".comp":
        return KERNEL_LINES
    return HEADER_LINES if shown.suffix == ".hpp" else SOURCE_LINES


def check(root):
    root = pathlib.Path(root)
    findings = Findings()
    for folder in ("src", "tests", "tools", "bench"):
        for path in cpp_scan.source_files(root / folder):
            findings.looked_at += 1
            _check_file(path, path.relative_to(root), findings)
    return findings


def _check_file(path, shown, findings):
    text = path.read_text()
    scan = cpp_scan.scan(text)
    lines = len(text.splitlines()) - len(scan.table_lines)
    _judge(findings, shown, 1, "the file has {} lines without its tables", lines, file_aim(shown))
    if not shown.as_posix().startswith("src/"):
        return
    for function in scan.functions:
        where = (findings, shown, function.first_line)
        _judge(*where, f"{function.name} has {{}} lines", function.lines, FUNCTION_LINES)
        _judge(*where, f"{function.name} has {{}} parameters", function.parameters, PARAMETERS)
        _judge(*where, f"{function.name} nests {{}} deep", function.nesting, NESTING)


def _judge(findings, shown, line, message, value, aim):
    if value >= 2 * aim:
        findings.error(shown, line, f"{message.format(value)}, twice the aim of {aim} or more")
    elif value > aim:
        findings.warn(shown, line, f"{message.format(value)}, the aim is {aim}")
