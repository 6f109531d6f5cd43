# Targets of the workflow "check"; each fails the build when its check fails.
add_custom_target(check_format COMMAND "${CMAKE_SOURCE_DIR}/scripts/format.sh" --check VERBATIM USES_TERMINAL)
add_custom_target(check_tidy COMMAND "${CMAKE_SOURCE_DIR}/scripts/tidy.sh" "${CMAKE_BINARY_DIR}" VERBATIM USES_TERMINAL)
