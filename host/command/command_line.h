// The command line as a function: the program `zwang`, and `python -m zwang`.
#pragma once

namespace zwang {

// Parses the arguments, of which the first is the program's name, runs the command and returns its exit code.
int command_line(int argc, char** argv);

}  // namespace zwang
