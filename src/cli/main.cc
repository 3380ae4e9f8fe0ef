#include "cli/run_command_line.h"
#include "muster_run/muster_run.h"
#include "runtime/cleanup_process.h"

int main(int argc, char** argv, char** environment) {
    if (const auto status = muster::runtime::run_as_cleanup_process(argc, argv)) return *status;
    if (const auto status = muster::run::run_by_name(argc, argv, environment)) return *status;
    return muster::cli::run_command_line(argc, argv);
}
