#include "cli/run_command_line.h"

#include <algorithm>
#include <cstdio>

#include "cli/internal/command_line/command_line.h"

namespace muster::cli {

int run_command_line(int argc, char** argv) {
    const Command command = parse_command_line({argv + std::min(argc, 1), argv + argc});
    if (const auto* verb = std::get_if<std::unique_ptr<Verb>>(&command)) return (*verb)->run();
    const Print& text = std::get<Print>(command);
    std::fputs(text.out.c_str(), stdout);
    std::fputs(text.err.c_str(), stderr);
    return text.exit_code;
}

}  // namespace muster::cli
