// muster_scale_bench CASE COUNT: one case in a process of its own, since heap and processor time
// are the process's. Prints a line of JSON for each figure; cases.py knows the limits.
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "scale_world.h"

int main(int argc, char** argv) {
    using namespace muster::scale;
    struct Case {
        const char* name;
        void (*run)(int);
    };
    constexpr Case kCases[] = {{"one", one_job},    {"dense", dense_job},   {"sparse", sparse_job},
                               {"many", many_jobs}, {"beside", beside},     {"memory", memory},
                               {"decide", decide},  {"simulate", simulate}, {"hashes", hashes}};
    const int count = argc == 3 ? std::atoi(argv[2]) : 0;
    for (const Case& each : kCases) {
        if (argc != 3 || count <= 0 || std::strcmp(argv[1], each.name) != 0) continue;
        each.run(count);
        return 0;
    }
    die("usage: muster_scale_bench one|dense|sparse|many|beside|memory|decide|simulate|hashes "
        "COUNT");
}
