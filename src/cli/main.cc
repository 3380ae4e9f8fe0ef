#include "cli/verbs.h"
#include "runtime/node.h"

int main(int argc, char** argv) {
    if (muster::runtime::is_pod_init(argc, argv)) return muster::runtime::run_pod_init(argc, argv);
    return muster::cli::run_command_line(argc, argv);
}
