#include "cli/internal/script/script_flags.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "base/parse_number.h"
#include "cli/internal/flags/shared_flags.h"
#include "jobs/job.h"
#include "kube/values/quantity.h"
#include "manifest/adjust.h"

namespace muster::cli {

namespace {

/// Flags that only say how a script is made a job.
constexpr const char* kOfScripts[] = {
    "--framework", "--workers",  "--nproc-per-node", "--servers", "--cpus",
    "--memory",    "--gpus",     "--image",          "--name",    "--max-restarts",
    "--deadline",  "--priority", "--label",          "--print",   "--save"};

std::optional<std::string> read_workers(const std::string& text, JobRequest& request) {
    const std::size_t colon = text.find(':');
    const auto count = [](std::string_view part) {
        const auto number = parse_number<std::int32_t>(part);
        return number && *number >= 1 && *number <= jobs::kMaxReplicas ? number : std::nullopt;
    };
    const auto first = count(std::string_view(text).substr(0, colon));
    const auto last =
        colon == std::string::npos ? first : count(std::string_view(text).substr(colon + 1));
    if (!first || !last || *last < *first)
        return fmt::format(
            "--workers wants a number such as 4, or the fewest and the most as in 2:8, not \"{}\"",
            text);
    request.workers = *last;
    if (colon != std::string::npos) request.least = first;
    return std::nullopt;
}

std::optional<std::string> check_processes(const std::string& text) {
    const auto number = parse_number<std::int32_t>(text);
    if (text == "auto" || text == "gpu" || text == "cpu" ||
        (number && *number >= 1 && *number <= 4096))
        return std::nullopt;
    return fmt::format("--nproc-per-node wants a number of processes or auto, not \"{}\"", text);
}

std::optional<std::string> read_count(std::string_view flag, const std::string& text,
                                      std::int32_t& to) {
    if (text.empty()) return std::nullopt;
    const auto number = parse_number<std::int32_t>(text);
    if (!number || *number < 0 || *number > jobs::kMaxReplicas)
        return fmt::format("{} wants 0 or a number above it, not \"{}\"", flag, text);
    to = *number;
    return std::nullopt;
}

std::optional<std::string> check_quantity(std::string_view flag, std::string_view such_as,
                                          std::string& text) {
    if (text.empty()) return std::nullopt;
    const auto amount = kube::Quantity::parse(text);
    if (amount && amount->ceil_units() > 0) return std::nullopt;
    // 64GB is how everyone writes it; Kubernetes has G and Gi.
    if (text.ends_with('B') || text.ends_with('b')) {
        const std::string shorter = text.substr(0, text.size() - 1);
        if (kube::Quantity::parse(shorter)) {
            text = shorter;
            return std::nullopt;
        }
    }
    return fmt::format("{} wants an amount such as {}, not \"{}\"", flag, such_as, text);
}

/// "2", or "amd.com/gpu=2".
std::optional<std::string> read_gpus(const std::string& text, JobRequest& request) {
    if (text.empty()) return std::nullopt;
    std::pair<std::string, std::string> named{request.gpu_resource, text};
    if (text.find('=') != std::string::npos && !manifest::split_assignment(text, named))
        return fmt::format(
            "--gpus wants a number, or one with its resource as in amd.com/gpu=2, not \"{}\"",
            text);
    const auto number = parse_number<std::int64_t>(named.second);
    if (!number || *number < 0 || *number > 1024)
        return fmt::format(
            "--gpus wants a number, or one with its resource as in amd.com/gpu=2, not \"{}\"",
            text);
    request.gpu_resource = named.first;
    request.gpus = *number;
    return std::nullopt;
}

}  // namespace

void ScriptFlags::declare(Flags& flags, ScriptOptions& options) {
    JobRequest& request = options.request;
    flags.value("--framework", framework_);
    flags.value("--workers,-w", workers_);
    flags.value("--nproc-per-node", request.processes);
    flags.value("--servers", servers_);
    flags.value("--cpus", request.cpus);
    flags.value("--memory", request.memory);
    flags.value("--gpus", gpus_);
    flags.value("--image", request.image, not_unnamed);
    flags.value("--name", request.name, not_unnamed);
    flags.value("--max-restarts", max_restarts_);
    flags.value("--deadline", deadline_);
    flags.value("--priority", request.priority, not_unnamed);
    flags.list("--label", labels_);
    flags.flag("--print", options.print);
    flags.value("--save", options.save, not_unnamed);
}

std::optional<std::string> ScriptFlags::finish(const Flags& flags, ScriptOptions& options) const {
    if (options.command.empty()) {
        for (const char* flag : kOfScripts)
            if (flags.given(flag))
                return fmt::format(
                    "{} is about a script or a program, and this line has none; what a manifest "
                    "says is changed by --set and --replicas",
                    flag);
        return std::nullopt;
    }
    JobRequest& request = options.request;
    options.workers_given = !workers_.empty();
    options.processes_given = flags.given("--nproc-per-node");
    options.gpus_given = !gpus_.empty();
    if (!framework_.empty()) {
        options.framework = framework_named(framework_);
        if (!options.framework)
            return fmt::format("--framework {}: there is {}", framework_, framework_names());
    }
    if (!workers_.empty())
        if (auto wrong = read_workers(workers_, request)) return wrong;
    if (auto wrong = check_processes(request.processes)) return wrong;
    if (auto wrong = read_count("--servers", servers_, request.servers)) return wrong;
    if (auto wrong = read_count("--max-restarts", max_restarts_, request.max_restarts))
        return wrong;
    if (auto wrong = check_quantity("--cpus", "4 or 500m", request.cpus)) return wrong;
    if (auto wrong = check_quantity("--memory", "16Gi", request.memory)) return wrong;
    if (auto wrong = read_gpus(gpus_, request)) return wrong;
    std::optional<std::chrono::nanoseconds> deadline;
    if (auto wrong = read_duration("--deadline", deadline_, "90m or 12h", deadline)) return wrong;
    if (deadline) request.deadline = std::chrono::ceil<std::chrono::seconds>(*deadline).count();
    for (const std::string& text : labels_) {
        std::pair<std::string, std::string> label;
        if (!manifest::split_assignment(text, label))
            return fmt::format("--label wants NAME=VALUE, not \"{}\"", text);
        request.labels.push_back(std::move(label));
    }
    return std::nullopt;
}

}  // namespace muster::cli
