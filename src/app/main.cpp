#include "app/command_line.hpp"

int main(int argc, char** argv) { return luce::app::run_program(argc, argv); }
