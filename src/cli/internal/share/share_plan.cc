#include "cli/internal/share/share_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shell_word.h"
#include "cli/internal/share/cpu_sets.h"
#include "cli/internal/share/share_words.h"

namespace muster::cli {

namespace {

/// The caller's environment with what is given to this process.
launch::Variables with(launch::Variables variables, const launch::Variables& given) {
    std::erase_if(variables, [&](const auto& variable) {
        return launch::find_variable(given, variable.first) != nullptr;
    });
    variables.insert(variables.end(), given.begin(), given.end());
    return variables;
}

}  // namespace

SharePlan plan_share(const ShareOptions& options, const ShareSurroundings& around) {
    GpuShare gpus = gpu_share({.memory = options.gpu_memory,
                               .processes = options.processes,
                               .mps = options.mps,
                               .gpus = around.gpus},
                              around.variables);
    std::vector<std::vector<std::uint32_t>> cpus;
    if (options.bind) cpus = split_cpus(around.machine, options.processes);
    SharePlan plan{.processes = {}, .notes = std::move(gpus.notes)};
    for (int index = 0; index < options.processes; ++index) {
        SharedProcess process;
        process.given = {{variable_of(options.index_name), std::to_string(index)},
                         {variable_of(options.count_name), std::to_string(options.processes)}};
        process.given.insert(process.given.end(), gpus.variables.begin(), gpus.variables.end());
        if (!around.mps_directory.empty())
            process.given.emplace_back("CUDA_MPS_PIPE_DIRECTORY", around.mps_directory);
        launch::WorkerStart& start = process.start;
        start.local_rank = start.rank = index;
        start.environment = with(around.variables, process.given);
        start.command = options.command;
        if (options.words)
            start.command.insert(start.command.end(),
                                 {flag_of(options.index_name), std::to_string(index),
                                  flag_of(options.count_name), std::to_string(options.processes)});
        if (!cpus.empty()) start.cpus = cpus[static_cast<std::size_t>(index)];
        plan.processes.push_back(std::move(process));
    }
    return plan;
}

std::string to_text(const SharePlan& plan) {
    std::string text;
    for (const SharedProcess& process : plan.processes) {
        text += fmt::format("process {}, on {}:\n ", process.start.local_rank,
                            process.start.cpus.empty()
                                ? "any CPU"
                                : "CPUs " + launch::to_cpu_list(process.start.cpus));
        for (const auto& [name, value] : process.given)
            text += fmt::format(" {}={}", name, shell_word(value));
        for (const std::string& word : process.start.command) text += " " + shell_word(word);
        text += "\n";
    }
    return text;
}

}  // namespace muster::cli
