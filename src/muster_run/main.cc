#include "muster_run/muster_run.h"

int main(int argc, char** argv, char** environment) {
    namespace run = muster::run;
    if (const auto status = run::run_by_name(argc, argv, environment)) return *status;
    return run::muster_run(muster::launch::LaunchCommand::kMusterRun,
                           {argv + (argc > 0 ? 1 : 0), argv + argc},
                           run::variables_of(environment));
}
