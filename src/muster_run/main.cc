#include "muster_run/muster_run.h"

int main(int argc, char** argv, char** environment) {
    namespace run = muster::run;
    return run::muster_run(muster::launch::launch_command(argc > 0 ? argv[0] : ""),
                           {argv + (argc > 0 ? 1 : 0), argv + argc},
                           run::variables_of(environment));
}
