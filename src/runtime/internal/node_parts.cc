#include <unistd.h>

#include <string_view>

#include "runtime/internal/cleanup_main.h"
#include "runtime/node.h"

namespace muster::runtime {

std::optional<int> run_as_part_of_a_node(int argc, char** argv) {
    if (argc < 2) return std::nullopt;
    const std::string_view part = argv[1];
    // No destructors or exit handlers of the rest of the program.
    if (part == kCleanupArgument) ::_exit(run_cleanup());
    return std::nullopt;
}

}  // namespace muster::runtime
