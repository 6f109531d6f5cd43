"""A small reader of clang-formatted C++: finds scopes, functions and includes without a compiler."""
import dataclasses
import pathlib
import re

SOURCE_SUFFIXES = {".cpp", ".hpp", ".inl", ".comp"}


@dataclasses.dataclass
class Function:
    name: str
    first_line: int  # of the opening brace
    last_line: int  # of the closing brace
    parameters: int
    nesting: int  # deepest control statement or lambda inside
    body: str  # with comments and strings blanked

    @property
    def lines(self):
        return max(0, self.last_line - self.first_line - 1)


@dataclasses.dataclass
class Scan:
    functions: list
    namespaces: list
    table_lines: set  # lines inside initialisers at namespace scope: data, not code


@dataclasses.dataclass
class Scope:
    kind: str  # namespace, type, function, control, lambda, block, init
    start: int  # offset of the brace
    head: str
    open_parens: int = 0
    levels: int = 0  # nesting that this scope adds


def source_files(folder):
    return sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix in SOURCE_SUFFIXES)


def includes(text):
    """(line, '<' or '\"', path) of each #include."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            found.append((number, match.group(1), match.group(2)))
    return found


_TOKENS = re.compile(
    r'R"(?P<tag>[^()\\ ]*)\((?:.|\n)*?\)(?P=tag)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-FxX])'(?:\\.|[^'\\\n])+'"  # not a digit separator
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"
    r"|^[ \t]*#(?:\\\n|[^\n])*",  # preprocessor line
    re.MULTILINE,
)


def blank(text):
    """The text with comments, strings and preprocessor lines replaced by spaces; line breaks stay."""

    def spaces(match):
        token = match.group(0)
        kept = re.sub(r"[^\n]", " ", token)
        return '"' + kept[1:-1] + '"' if token[0] in "R\"'" and len(token) > 1 else kept

    return _TOKENS.sub(spaces, text)


def _skip_group(text, start, opening, closing):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == opening) - (text[i] == closing)
        if depth == 0:
            return i + 1
    return len(text)


def _strip_prefixes(head):
    """Without labels, attributes, template and requires clauses, so that the declaration itself is left."""
    head = head.strip()
    while True:
        before = head
        head = re.sub(r"^(case\b(?:[^:]|::)*:(?!:)|default\s*:|public\s*:|private\s*:|protected\s*:)\s*", "", head)
        if re.match(r"template\s*<", head):
            head = head[_skip_group(head, head.index("<"), "<", ">"):].strip()
        if head.startswith("[["):
            head = head[head.index("]]") + 2:].strip() if "]]" in head else head
        match = re.match(r"requires\s*\(", head)
        if match:
            head = head[_skip_group(head, match.end() - 1, "(", ")"):].strip()
        head = re.sub(r"^requires\s+[\w:]+(<[^<>]*>)?(\s*(&&|\|\|)\s*[\w:]+(<[^<>]*>)?)*\s+(?=\w)", "", head)
        if head == before:
            return head


_LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(<[^<>]*>\s*)?(\((?:[^()]|\([^()]*\))*\)\s*)?(mutable\s*|noexcept\s*)*(->[^;{}]*)?$")
_CONTROL = re.compile(r"\b(if|for|while|switch|do|try|catch|else)\b")


def _classify(head, parent):
    """Kind of the scope that opens after `head`, and the nesting that it adds."""
    head = _strip_prefixes(head)
    if _LAMBDA.search(head):
        return "lambda", 1
    if parent.open_parens > 0:
        return "init", 0
    if parent.kind in ("function", "control", "lambda", "block"):
        if re.match(r"(if|for|while|switch|do|try|catch|else)\b", head):
            plain = re.sub(r"\belse\s+if\b", "if", head)
            while re.search(r"\([^()]*\)", plain):
                plain = re.sub(r"\([^()]*\)", " ", plain)
            return "control", max(1, len(_CONTROL.findall(plain)))
        if re.match(r"(class|struct|union|enum)\b", head) and not re.search(r"[)=]\s*$", head):
            return "type", 0
        return ("block", 0) if not head else ("init", 0)
    if re.match(r"(inline\s+)?namespace\b|extern\b[^()]*$", head):
        return "namespace", 0
    if re.match(r"(class|struct|union|enum)\b", head) and not re.search(r"\)\s*(const|noexcept|override|final|\s)*$", head):
        return "type", 0
    if "(" in head and re.search(r"(\)|\}|\bconst|\bnoexcept|\boverride|\bfinal|\btry|->[^;{}]*[\w>&*])\s*$", head):
        if re.search(r"\brequires\s*(\([^()]*\))?\s*$", head) or re.search(r"(^|[^=!<>])=\s*$", head):
            return "init", 0
        return "function", 0
    return "init", 0


def _name_and_parameters(head):
    head = _strip_prefixes(head)
    operator = re.search(r"\boperator\s*(\(\s*\)|[^\s(]+)\s*\(", head)
    if operator:
        start, name = operator.end() - 1, head[operator.start():operator.end() - 1].strip()
    else:
        start, name = _first_call(head)
        if start < 0:
            return "?", 0
    inside = head[start + 1:_skip_group(head, start, "(", ")") - 1]
    return name, _count_list(inside)


def _first_call(head):
    """Offset of the parenthesis that opens the parameters, and the name before it."""
    angles, i = 0, 0
    while i < len(head):
        if head[i] == "<" and head[i - 1:i] != " ":
            angles += 1
        elif head[i] == ">" and head[i - 1:i] not in ("-", " "):
            angles -= 1
        elif head[i] == "(" and angles == 0:
            before = re.search(r"((?:\w+(?:<[^()]*>)?::)*~?\w+)\s*(<[^()]*>)?\s*$", head[:i])
            if before and before.group(1) not in ("alignas", "decltype", "noexcept", "explicit", "__attribute__"):
                return i, before.group(1)
            i = _skip_group(head, i, "(", ")") - 1
        i += 1
    return -1, "?"


def _count_list(text):
    if text.strip() in ("", "void"):
        return 0
    depth, commas = 0, 0
    for i, char in enumerate(text):
        if char in "([{" or (char == "<" and text[i - 1:i] not in ("<", " ")):
            depth += 1
        elif char in ")]}" or (char == ">" and text[i - 1:i] not in ("-", " ")):
            depth -= 1
        elif char == "," and depth == 0:
            commas += 1
    return commas + 1


def scan(text):
    """Reads one file."""
    return _Reader(blank(text)).read()


class _Reader:
    def __init__(self, code):
        self.code = code
        self.line_starts = [0] + [i + 1 for i, char in enumerate(code) if char == "\n"]
        self.stack = [Scope("namespace", 0, "")]
        self.head = ""
        self.result = Scan([], [], set())

    def line_of(self, offset):
        low, high = 0, len(self.line_starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.line_starts[middle] <= offset else (low, middle)
        return low + 1

    def read(self):
        for offset, char in enumerate(self.code):
            scope = self.stack[-1]
            if char == "{":
                self._open(offset)
            elif char == "}":
                self._close(offset)
            elif char == ";" and scope.open_parens == 0:
                self.head = ""
            else:
                scope.open_parens += (char == "(") - (char == ")")
                self.head += char
        return self.result

    def _open(self, offset):
        kind, levels = _classify(self.head, self.stack[-1])
        if kind == "namespace" and "namespace" in self.head:
            self.result.namespaces.append((self.line_of(offset), self.head.split("namespace")[-1].strip()))
        self.stack.append(Scope(kind, offset, self.head, levels=levels))
        self.head = ""

    def _close(self, offset):
        if len(self.stack) == 1:
            return
        scope = self.stack.pop()
        first, last = self.line_of(scope.start), self.line_of(offset)
        if scope.kind == "function":
            self._add_function(scope, offset, first, last)
        elif scope.kind in ("control", "lambda", "block"):
            self._pass_nesting_up(scope)
        elif scope.kind == "init" and all(s.kind in ("namespace", "init") for s in self.stack):
            self.result.table_lines.update(range(first + 1, last))
        # An initialiser or lambda is part of an expression that goes on.
        self.head = scope.head + "{}" if scope.kind in ("init", "lambda") else ""

    def _pass_nesting_up(self, scope):
        for outer in reversed(self.stack):
            if outer.kind in ("function", "control", "lambda", "block"):
                outer.deepest = max(getattr(outer, "deepest", 0), scope.levels + getattr(scope, "deepest", 0))
                return

    def _add_function(self, scope, offset, first, last):
        name, parameters = _name_and_parameters(scope.head)
        body = self.code[scope.start:offset + 1]
        nesting = getattr(scope, "deepest", 0)
        self.result.functions.append(Function(name, first, last, parameters, nesting, body))
