# luce_library(NAME USES lower... THIRD_PARTY target...)
# One static library luce_NAME from every source below src/NAME.
function(luce_library name)
  cmake_parse_arguments(ARG "" "" "USES;THIRD_PARTY" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(TRANSFORM ARG_USES PREPEND luce_)
  if(sources)
    add_library(luce_${name} STATIC ${sources})
    target_link_libraries(luce_${name} PUBLIC luce_settings ${ARG_USES} ${ARG_THIRD_PARTY})
  else()
    add_library(luce_${name} INTERFACE)
    target_link_libraries(luce_${name} INTERFACE luce_settings ${ARG_USES} ${ARG_THIRD_PARTY})
  endif()
endfunction()

# The program build/<preset>/luce-spark.
function(luce_program)
  if(EXISTS "${CMAKE_SOURCE_DIR}/src/app/main.cpp")
    add_executable(luce-spark "${CMAKE_SOURCE_DIR}/src/app/main.cpp")
    target_link_libraries(luce-spark PRIVATE luce_app)
    set_target_properties(luce-spark PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  endif()
endfunction()

# What tests call is optimised in src/, so they themselves need not be; together with their one precompiled header
# this saves a third of their build time. At -O1 gcc 12 sees overflows in
# std::string where none are.
function(luce_test_settings target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1;-Wno-array-bounds;-Wno-stringop-overflow>
                                           $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# luce_test(NAME USES luce folder... THIRD_PARTY target...): tests/NAME/**/*_test.cpp into one program test_NAME,
# linked with luce_NAME.
function(luce_test name)
  cmake_parse_arguments(ARG "" "" "USES;THIRD_PARTY" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM ARG_USES PREPEND luce_)
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE luce_${name} ${ARG_USES} ${ARG_THIRD_PARTY} luce_test_support GTest::gmock GTest::gtest_main)
  target_include_directories(test_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_precompile_headers(test_${name} REUSE_FROM luce_test_support)
  luce_test_settings(test_${name})
  gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${name} TIMEOUT 600)
endfunction()
