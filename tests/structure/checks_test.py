#!/usr/bin/env python3
"""Each structure check must find the fault that it is for, and pass what is fine."""
import pathlib
import subprocess
import tempfile
import unittest

import conventions
import cpp_scan
import kernel_objects
import layers
import sizes
import test_files

TABLE = """
| folder | what | third-party |
|---|---|---|
| `base/` | errors | fmt |
| `device/` | hardware (a note, with a comma) | Vulkan in `vulkan/` only |
| `app/` | commands | CLI11 (flags), yaml-cpp |
"""
LINE = "  x = 1;\n"


class CheckCase(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in {"docs/architecture.md": TABLE, **files}.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder.name

    def assert_finds(self, check, files, *messages):
        errors = check(self.tree(files)).errors
        self.assertEqual(len(errors), len(messages), errors)
        for error, message in zip(errors, messages):
            self.assertIn(message, error)

    def assert_passes(self, check, files):
        found = check(self.tree(files))
        self.assertEqual(found.errors, [])
        self.assertGreater(found.looked_at, 0)


class Layers(CheckCase):
    base = {"src/base/error.hpp": "#include <fmt/core.h>\n#include <vector>\n#include <sys/stat.h>\n"}

    def test_down_and_sideways_pass(self):
        text = '#include "base/error.hpp"\n#include "device/b.hpp"\n'
        self.assert_passes(layers.check, {**self.base, "src/device/a.hpp": text, "src/device/b.hpp": ""})

    def test_up_fails(self):
        self.assert_finds(
            layers.check, {"src/base/a.cpp": '#include "app/b.hpp"\n', "src/app/b.hpp": ""}, "app/ stands above it")

    def test_up_from_a_subfolder_fails(self):
        files = {"src/device/cpu/a.inl": '\n#  include "app/b.hpp"\n', "src/app/b.hpp": ""}
        self.assert_finds(layers.check, files, "src/device/cpu/a.inl:2")

    def test_parent_paths_fail(self):
        files = {**self.base, "src/app/a.cpp": '#include "../base/error.hpp"\n#include "error.hpp"\n'}
        self.assert_finds(layers.check, files, "folder/file", "no file below src/")

    def test_foreign_library_fails(self):
        files = {"src/device/a.cpp": "#include <fmt/core.h>\n#include <boost/any.hpp>\n#include <CLI/CLI.hpp>\n"}
        self.assert_finds(layers.check, files, "may not use fmt", "belongs to no library", "may not use CLI11")

    def test_library_of_a_subfolder_stays_there(self):
        text = "#include <vulkan/vulkan.h>\n"
        self.assert_passes(layers.check, {"src/device/vulkan/a.cpp": text})
        self.assert_finds(layers.check, {"src/device/cpu/a.cpp": text}, "in device/vulkan/ only")

    def test_unknown_folder_fails(self):
        self.assert_finds(layers.check, {"src/extra/a.cpp": ""}, "not in the layer table")

    def test_missing_table_and_unknown_library_fail(self):
        self.assert_finds(layers.check, {"docs/architecture.md": "", "src/base/a.cpp": ""}, "no layer table",
                          "not in the layer table")
        self.assert_finds(layers.check, {"docs/architecture.md": "| `base/` | x | libfoo |", "src/base/a.cpp": ""},
                          "libfoo has no header pattern")


class Sizes(CheckCase):
    def body(self, lines):
        return "void run() {\n" + LINE * lines + "}\n"

    def test_aims_pass_and_warn(self):
        self.assert_passes(sizes.check, {"src/base/a.cpp": self.body(30)})
        found = sizes.check(self.tree({"src/base/a.cpp": self.body(31)}))
        self.assertEqual((len(found.errors), len(found.warnings)), (0, 1))

    def test_long_function_fails(self):
        self.assert_finds(sizes.check, {"src/base/a.cpp": self.body(60)}, "run has 60 lines")

    def test_long_files_fail(self):
        row = "int a;\n"
        for name, aim in (("base/a.cpp", 250), ("base/a.hpp", 120), ("model/architectures/a.cpp", 200),
                          ("device/cpu/kernels/a.inl", 300), ("device/vulkan/a.comp", 300)):
            self.assert_passes(sizes.check, {"src/" + name: row * (2 * aim - 1)})
            self.assert_finds(sizes.check, {"src/" + name: row * (2 * aim)}, f"has {2 * aim} lines")
        self.assert_finds(sizes.check, {"tests/base/a_test.cpp": row * 800}, "has 800 lines")

    def test_tables_do_not_count(self):
        table = "namespace x {\nconstexpr int kRows[] = {\n" + "  1, 2,\n" * 900 + "};\n}\n"
        self.assert_passes(sizes.check, {"src/base/a.cpp": table})

    def test_tables_inside_functions_count(self):
        text = "void run() {\n  const int rows[] = {\n" + "    1,\n" * 60 + "  };\n}\n"
        self.assert_finds(sizes.check, {"src/base/a.cpp": text}, "run has 62 lines")

    def test_many_parameters_fail(self):
        text = "int f(A a, std::map<int, int> b, int c = g(1, 2), int d, int e, int h, int i, int j) { return 1; }\n"
        self.assert_finds(sizes.check, {"src/base/a.cpp": text}, "f has 8 parameters")

    def test_deep_nesting_fails(self):
        text = "void f() {\n" + "if (a) {\n" * 4 + "for (;;)\n while (b) {\n" + "}\n" * 6
        self.assert_finds(sizes.check, {"src/base/a.cpp": text}, "f nests 6 deep")


class Scan(unittest.TestCase):
    def functions(self, text):
        return [(f.name, f.parameters) for f in cpp_scan.scan(text).functions]

    def test_finds_functions_only(self):
        text = """
#define TWICE(x) { x x }
namespace a::b {
struct Point { int x{1}; int y = {2}; Point(int x_, int y_) : x(x_), y{y_} {} };
enum class Kind { one, two };
constexpr std::array<int, 2> kTable = {{1, 2}};
template <typename T> requires(sizeof(T) > 1)
auto Box<T>::get() const noexcept -> const T& { return "}{"; }
bool operator==(const Point& a, const Point& b) { return a.x == b.x; }
int Call::operator()(int a) const { return R"x({{)x"[0] + '{' + 1'000; }
const auto kLambda = [](int a) { return a; };
template <> void dot<Plain<F32>>(const Task& task) { run(task, {1, 2}); }
std::function<void()> make(std::function<int(int, int)> f, void (*g)(int, int)) { return [f] { f({}, 1); }; }
void defaulted(int a = std::max(1, 2), T b = {1, 2}, bool c = 1 < 2, int d = x->y) {}
Name::~Name() { /* } */ // }
}
TEST_P(Suite, Name) { while (x) { switch (y) { case std::a: { } default: if (z) { } } } }
}
"""
        self.assertEqual(self.functions(text), [
            ("Point", 2), ("Box<T>::get", 0), ("operator==", 2), ("operator()", 1), ("dot", 1),
            ("make", 2), ("defaulted", 4), ("Name::~Name", 0), ("TEST_P", 2)])

    def test_nesting_counts_controls_and_lambdas(self):
        text = "void f() {\n  for (;;)\n    if (a) {\n      call([&](int x) {\n        if (b) { c(); } else if (d) { e(); }\n" \
               "      });\n    }\n  if (x) {\n  }\n}\n"
        self.assertEqual(cpp_scan.scan(text).functions[0].nesting, 4)
        self.assertEqual(cpp_scan.scan("void f() { int a{1}; g({2, {3}}); }").functions[0].nesting, 0)

    def test_lines_are_those_between_the_braces(self):
        function = cpp_scan.scan("\nvoid f(int a,\n       int b) {\n  a;\n  b;\n}\n").functions[0]
        self.assertEqual((function.first_line, function.last_line, function.lines), (3, 6, 2))

    def test_includes(self):
        self.assertEqual(cpp_scan.includes('#include <a/b.h>  // x\n # include "c.hpp"\n// #include "no"\n'),
                         [(1, "<", "a/b.h"), (2, '"', "c.hpp")])


class Conventions(CheckCase):
    def test_vague_names_fail(self):
        self.assert_finds(conventions.check, {"src/base/string_utils.cpp": ""}, "string_utils says nothing")
        self.assert_finds(conventions.check, {"src/common/a.cpp": ""}, "common says nothing")
        self.assert_finds(conventions.check, {"src/base/a.cpp": "namespace luce::helpers {\n}\n"}, "luce::helpers")
        self.assert_passes(conventions.check, {"src/base/futile.cpp": "namespace luce::base {}\n"})

    def test_unfinished_work_fails(self):
        self.assert_finds(conventions.check, {"tests/base/a_test.cpp": "// TODO: more\n"}, "unfinished")

    def test_noise_below_app_fails(self):
        for text in ("std::cout << 1;", "void f() { exit(1); }", 'auto x = std::getenv("A");', 'printf("x");'):
            self.assert_finds(conventions.check, {"src/model/a.cpp": text}, "only app/ prints")
            self.assert_passes(conventions.check, {"src/app/a.cpp": text})
        self.assert_passes(conventions.check, {"src/model/a.cpp": '// std::cout\nauto x = "exit(1)"; on_exit(1); a.exit();'})

    def test_own_header_comes_first(self):
        files = {"src/base/a.hpp": "", "src/base/b.hpp": ""}
        wrong = '#include "base/b.hpp"\n#include "base/a.hpp"\n'
        self.assert_finds(conventions.check, {**files, "src/base/a.cpp": wrong}, 'must be "base/a.hpp"')
        self.assert_passes(conventions.check, {**files, "src/base/a.cpp": '#include "base/a.hpp"\n'})


class TestFiles(CheckCase):
    def test_assertions_anywhere_pass(self):
        text = """
namespace {
void expect_one(int x) { EXPECT_EQ(x, 1); }
template <typename T> void expect_both(T x) { expect_one(x); }
TEST(A, Direct) { ASSERT_TRUE(x); }
TEST_F(A, ThroughAFunction) { expect_both<int>(1); }
TEST_P(A, ThroughSupport) { compare(1); }
}
"""
        support = {"tests/support/compare.hpp": "inline void compare(int x) { EXPECT_EQ(x, 1); }\n"}
        self.assert_passes(test_files.check, {**support, "tests/base/a_test.cpp": text})

    def test_empty_tests_fail(self):
        text = 'void run(int) {}\nTEST(A, B) {\n  run(1);\n  // EXPECT_EQ(1, 1)\n  log("EXPECT_TRUE(x)");\n}\n'
        self.assert_finds(test_files.check, {"tests/base/a_test.cpp": text}, "asserts nothing")
        self.assert_finds(test_files.check, {"tests/base/a_test.cpp": "int x;\n"}, "no test")

    def test_skips_fail(self):
        self.assert_finds(test_files.check, {"tests/base/a_test.cpp": "TEST(A, B) {\n  if (x) GTEST_SKIP();\n  FAIL();\n}\n"},
                          "proves nothing")
        self.assert_finds(test_files.check, {"tests/base/a_test.cpp": "TEST(A, DISABLED_B) { FAIL(); }\n"}, "proves nothing")


class KernelObjects(CheckCase):
    def objects(self, text):
        root = pathlib.Path(self.tree({"src/device/cpu/kernels/avx2.cpp": text}))
        source = root / "src/device/cpu/kernels/avx2.cpp"
        subprocess.run(["c++", "-std=c++20", "-O0", "-c", source, "-o", f"{source}.o"], check=True)
        return kernel_objects.check(root, root)

    def test_a_table_passes(self):
        found = self.objects("namespace { int f() { return 1; } }\nstruct Table { int (*run)(); };\nextern constinit const Table table = {&f};\n")
        self.assertEqual((found.errors, found.looked_at), ([], 1))

    def test_weak_symbols_fail(self):
        found = self.objects("inline int leaked(int x) { return x; }\nint use(int x) { return leaked(x); }\n")
        self.assertEqual(len(found.errors), 1)
        self.assertIn("weak symbol leaked(int)", found.errors[0])

    def test_static_initialisers_fail(self):
        found = self.objects("int f();\nint table = f();\n")
        self.assertEqual(len(found.errors), 1)
        self.assertIn(".init_array", found.errors[0])

    def test_other_objects_are_not_looked_at(self):
        self.assertEqual(kernel_objects.check(".", self.tree({"src/device/a.cpp.o": ""})).looked_at, 0)


if __name__ == "__main__":
    unittest.main()
