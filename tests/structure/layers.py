"""Includes in src/ point down the table in docs/architecture.md, and third-party headers stay in their folders."""
import dataclasses
import pathlib
import re

import cpp_scan
from findings import Findings

# How each library of the table is included. A library that is new to the table is added here.
LIBRARY_HEADERS = {
    "spdlog": r"spdlog/",
    "fmt": r"fmt/",
    "liburing": r"liburing(\.h|/)",
    "hwloc": r"hwloc(\.h|/)",
    "prometheus-cpp": r"prometheus/",
    "pcre2": r"pcre2\.h",
    "utf8proc": r"utf8proc\.h",
    "nlohmann-json": r"nlohmann/",
    "CLI11": r"CLI/",
    "libedit": r"histedit\.h",
    "yaml-cpp": r"yaml-cpp/",
    "Vulkan": r"vulkan/",
}
# Headers of the C library, Linux and the compiler that any folder may use.
SYSTEM_HEADER = re.compile(
    r"^[a-z0-9_]+$"  # C++ standard
    r"|^(sys|linux|netinet|arpa|asm)/[a-z0-9_]+\.h$"
    r"|^(unistd|fcntl|sched|pthread|signal|poll|termios|dlfcn|dirent|time|errno|stdlib|string|execinfo|cpuid|immintrin"
    r"|x86intrin|malloc|getopt|netdb|ifaddrs|langinfo|locale|wchar|pwd)\.h$"
)


@dataclasses.dataclass
class Layer:
    name: str
    order: int
    libraries: dict  # library -> subfolder that may use it, "" for the whole folder


def read_table(architecture_md):
    """Layers by name from the rows `| `folder/` | what | libraries |`, bottom first."""
    layers = {}
    for line in pathlib.Path(architecture_md).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        folder = re.fullmatch(r"`(\w+)/`", cells[0]) if len(cells) == 3 else None
        if folder:
            name = folder.group(1)
            layers[name] = Layer(name, len(layers), _libraries(cells[2]))
    return layers


def _libraries(cell):
    """`fmt, Vulkan in `vulkan/` only` -> {"fmt": "", "Vulkan": "vulkan"}."""
    found = {}
    for part in re.sub(r"\([^)]*\)", "", cell).split(","):
        match = re.match(r"\s*([\w-]+)(?:\s+in\s+`([\w/]+?)/?`\s+only)?\s*$", part)
        if match and match.group(1) != "-":
            found[match.group(1)] = match.group(2) or ""
    return found


def check(root):
    root = pathlib.Path(root)
    findings = Findings()
    table = root / "docs/architecture.md"
    layers = read_table(table)
    if not layers:
        findings.error("docs/architecture.md", 1, "no layer table with rows `| `folder/` | what | libraries |` found")
    for layer in layers.values():
        for library in layer.libraries.keys() - LIBRARY_HEADERS.keys():
            findings.error("docs/architecture.md", 1, f"library {library} has no header pattern in layers.py")
    for path in cpp_scan.source_files(root / "src"):
        findings.looked_at += 1
        _check_file(root, path, layers, findings)
    return findings


def _check_file(root, path, layers, findings):
    shown = path.relative_to(root)
    own = layers.get(shown.parts[1])
    if own is None:
        findings.error(shown, 1, f"folder src/{shown.parts[1]} is not in the layer table of docs/architecture.md")
        return
    for line, bracket, target in cpp_scan.includes(path.read_text()):
        if bracket == "<":
            _check_library(shown, line, target, own, findings)
        else:
            _check_own(root, shown, line, target, own, layers, findings)


def _check_own(root, shown, line, target, own, layers, findings):
    parts = target.split("/")
    if ".." in parts or "." in parts:
        findings.error(shown, line, f'"{target}" must be written as "folder/file" from src/')
    elif not (root / "src" / target).is_file():
        findings.error(shown, line, f'"{target}" is no file below src/')
    elif parts[0] not in layers:
        findings.error(shown, line, f"folder {parts[0]} is not in the layer table")
    elif layers[parts[0]].order > own.order:
        findings.error(shown, line, f'{own.name}/ must not include "{target}": {parts[0]}/ stands above it in the table')


def _check_library(shown, line, target, own, findings):
    if SYSTEM_HEADER.match(target):
        return
    library = next((name for name, pattern in LIBRARY_HEADERS.items() if re.match(pattern, target)), None)
    if library is None:
        findings.error(shown, line, f"<{target}> belongs to no library that the table allows")
    elif library not in own.libraries:
        findings.error(shown, line, f"<{target}>: {own.name}/ may not use {library} (docs/architecture.md)")
    elif own.libraries[library] and not str(shown).startswith(f"src/{own.name}/{own.libraries[library]}/"):
        findings.error(shown, line, f"<{target}>: {library} is allowed in {own.name}/{own.libraries[library]}/ only")
