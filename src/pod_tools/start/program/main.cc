#include "pod_tools/start/start.h"

// A program of its own that loads no library: it stands before each command of a pod, and before
// each Python there. muster-in-pods carries it (muster_embed_program).
int main(int argc, char** argv, char** environment) {
    return muster::pod_tools::run_start(argc, argv, environment);
}
