# Compiler settings that every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(LUCE_BUILD_TESTS "build the tests" ON)
option(LUCE_BUILD_BENCH "build the benchmarks" OFF)
option(LUCE_BUILD_FUZZERS "build the libFuzzer programs (clang)" OFF)
set(LUCE_SANITIZE "" CACHE STRING "sanitizers for every target, as in -fsanitize=, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Sloppiness is what ccache asks for with precompiled headers; the rest lets every clone share the results.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
endif()

add_library(luce_settings INTERFACE)
target_compile_options(luce_settings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)
target_include_directories(luce_settings INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src")
target_compile_definitions(luce_settings INTERFACE LUCE_VERSION="${PROJECT_VERSION}")
if(LUCE_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(LUCE_SANITIZE)
  add_compile_options(-fsanitize=${LUCE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LUCE_SANITIZE})
  # gcc 12 cannot follow variants once they are instrumented
  target_compile_options(luce_settings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
