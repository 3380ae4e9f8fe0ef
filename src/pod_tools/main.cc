#include "pod_tools/program.h"

int main(int argc, char** argv, char** environment) {
    std::vector<std::string> variables;
    for (char** one = environment; *one != nullptr; ++one) variables.emplace_back(*one);
    return muster::pod_tools::run({argv + (argc > 0 ? 1 : 0), argv + argc}, std::move(variables));
}
