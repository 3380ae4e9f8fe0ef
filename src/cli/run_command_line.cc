#include "cli/run_command_line.h"

#include <algorithm>
#include <cstdio>

#include "cli/internal/command_line/command_line.h"
#include "cli/internal/envtest/assets.h"
#include "cli/internal/envtest/etcd.h"
#include "cli/internal/envtest/kube_apiserver.h"

namespace muster::cli {

int run_command_line(int argc, char** argv) {
    const EnvtestProgram in_place_of = argc > 0 ? envtest_program(argv[0]) : EnvtestProgram::kNone;
    if (in_place_of == EnvtestProgram::kEtcd) return run_etcd({argv + 1, argv + argc});
    if (in_place_of == EnvtestProgram::kKubeApiserver)
        return run_kube_apiserver({argv + 1, argv + argc});
    const Command command = parse_command_line({argv + std::min(argc, 1), argv + argc});
    if (const auto* verb = std::get_if<std::unique_ptr<Verb>>(&command)) return (*verb)->run();
    const Print& text = std::get<Print>(command);
    std::fputs(text.out.c_str(), stdout);
    std::fputs(text.err.c_str(), stderr);
    return text.exit_code;
}

}  // namespace muster::cli
