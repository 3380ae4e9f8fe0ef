#include "cli/run_command_line.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/verbs/verbs.h"

namespace muster::cli {

int run_command_line(int argc, char** argv) {
    Command command = parse_command_line({argv + std::min(argc, 1), argv + argc});
    if (const auto* options = std::get_if<RunOptions>(&command)) return run(*options);
    if (const auto* options = std::get_if<ValidateOptions>(&command)) return validate(*options);
    if (const auto* options = std::get_if<ConvertOptions>(&command)) return convert(*options);
    if (const auto* options = std::get_if<ExplainOptions>(&command)) return explain(*options);
    if (const auto* options = std::get_if<SimulateOptions>(&command)) return simulate(*options);
    if (const auto* options = std::get_if<UpOptions>(&command)) return up(*options);
    if (const auto* options = std::get_if<DownOptions>(&command)) return down(*options);
    if (const auto* options = std::get_if<StatusOptions>(&command)) return status(*options);
    if (const auto* options = std::get_if<KubeconfigOptions>(&command)) return kubeconfig(*options);
    if (const auto* options = std::get_if<GetOptions>(&command)) return get(*options);
    if (const auto* options = std::get_if<DeleteOptions>(&command)) return remove(*options);
    if (const auto* options = std::get_if<ApplyOptions>(&command)) return apply(*options);
    if (const auto* options = std::get_if<WaitOptions>(&command)) return wait(*options);
    if (const auto* options = std::get_if<LogsOptions>(&command)) return logs(*options);
    if (const auto* options = std::get_if<DescribeOptions>(&command)) return describe(*options);
    if (const auto* options = std::get_if<EventsOptions>(&command)) return events(*options);
    if (const auto* options = std::get_if<TopOptions>(&command)) return top(*options);
    if (const auto* options = std::get_if<ManifestsOptions>(&command)) return manifests(*options);
    if (const auto* options = std::get_if<CompletionOptions>(&command)) return completion(*options);
    if (const auto* options = std::get_if<CompleteOptions>(&command)) return complete(*options);
    if (const auto* options = std::get_if<RshOptions>(&command)) return rsh(*options);
    if (const auto* options = std::get_if<OperatorOptions>(&command)) return operate(*options);
    if (const auto* options = std::get_if<MigrateOptions>(&command)) return migrate(*options);
    if (const auto* options = std::get_if<FaultInjectionOptions>(&command)) return drill(*options);
    if (std::holds_alternative<CleanOptions>(command)) return clean();
    if (std::holds_alternative<VersionOptions>(command)) return version();
    const Print& text = std::get<Print>(command);
    std::fputs(text.out.c_str(), stdout);
    std::fputs(text.err.c_str(), stderr);
    return text.exit_code;
}

}  // namespace muster::cli
