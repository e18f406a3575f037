// The program.
#include "host/command/command_line.h"

int main(int argc, char** argv) { return zwang::command_line(argc, argv); }
