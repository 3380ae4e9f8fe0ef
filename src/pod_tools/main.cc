#include "pod_tools/program.h"

int main(int argc, char** argv, char** environment) {
    return muster::pod_tools::run(argc, argv, environment);
}
