#include "cli/internal/verbs/verbs.h"
#include "runtime/node.h"

int main(int argc, char** argv) {
    if (const auto status = muster::runtime::run_as_part_of_a_node(argc, argv)) return *status;
    return muster::cli::run_command_line(argc, argv);
}
