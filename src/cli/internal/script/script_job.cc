#include "cli/internal/script/script_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/internal/script/job_manifest.h"
#include "cli/internal/script/python_imports.h"
#include "cli/internal/script/start_command.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

/// The first megabyte: imports stand at the beginning.
std::string beginning_of(const fs::path& file) {
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) return {};
    std::ifstream in(file, std::ios::binary);
    std::string text(kMostBytes, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::string plural(std::int64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : word.ends_with("s") ? "es" : "s");
}

/// Whoever has GPUs wants to train on them: the job gets those that the caller sees, shared out
/// among its workers. A worker has one process for each.
void take_devices(const ScriptOptions& options, const control_plane::Machine& machine,
                  JobRequest& request) {
    if (!options.gpus_given) {
        const runtime::Devices devices = machine.devices();
        const auto most = std::ranges::max_element(
            devices, {}, [](const auto& device) { return device.second.size(); });
        if (most != devices.end() && !most->second.empty()) {
            request.gpu_resource = most->first;
            request.gpus = static_cast<std::int64_t>(most->second.size()) / request.workers;
        }
    }
}

void count_processes(const ScriptOptions& options, JobRequest& request) {
    if (options.processes_given || request.gpus < 2) return;
    const bool starts_many =
        request.framework != Framework::kTensorFlow && request.framework != Framework::kJax &&
        request.framework != Framework::kXgboost && request.framework != Framework::kMxnet;
    const bool launches_itself = torchrun_words(request.command) > 0;
    if (starts_many && !launches_itself) request.processes = std::to_string(request.gpus);
}

Result<void> look_at_script(const std::string& script, const std::string& program) {
    std::error_code failed;
    // What follows -m is found by Python.
    if (!is_python_script(script)) return {};
    if (fs::is_regular_file(script, failed)) return {};
    if (fs::is_directory(script, failed))
        return Error(Code::kInvalid, fmt::format("{} is a directory", script));
    return Error(
        Code::kInvalid,
        fmt::format("{}: there is no such file in {}{}", script, fs::current_path().string(),
                    script == program ? "" : fmt::format(", which {} would start", program)));
}

Result<std::string> choose_framework(const ScriptOptions& options, const std::string& script,
                                     JobRequest& request) {
    if (options.framework) {
        request.framework = *options.framework;
        return std::string();
    }
    if (torchrun_words(request.command) > 0) {
        request.framework = Framework::kPyTorch;
        return std::string();
    }
    const FrameworkGuess guess = guess_framework(modules_of_script(script));
    if (is_mpirun(request.command.front())) {
        request.framework =
            guess.framework == Framework::kHorovod ? Framework::kHorovod : Framework::kMpi;
        return std::string();
    }
    if (!guess.framework && !guess.because.empty())
        return Error(Code::kInvalid,
                     fmt::format("{} imports {}: say with --framework which of them trains ({})",
                                 script, fmt::join(guess.because, " and "), framework_names()));
    // Its variables serve any program that is started many times.
    request.framework = guess.framework.value_or(Framework::kPyTorch);
    if (!guess.framework)
        return fmt::format("it imports no framework that is known here (--framework names one)");
    return fmt::format("it imports {}", fmt::join(guess.because, " and "));
}

std::string told_of(const JobRequest& request, const json::object& job,
                    const std::string& because) {
    std::string told =
        fmt::format("{} {}", std::string_view(job.at("kind").get_string()), request.name);
    if (!because.empty()) told += fmt::format(", as {}", because);
    told += ": ";
    told += request.least
                ? fmt::format("{} to {}", *request.least, plural(request.workers, "worker"))
                : plural(request.workers, "worker");
    if (request.processes == "auto" || request.processes == "gpu" || request.processes == "cpu")
        told += fmt::format(", a process for each {}",
                            request.processes == "auto" ? "device" : request.processes);
    else if (request.processes != "1")
        told += fmt::format(", {} each", plural(std::stol(request.processes), "process"));
    if (request.gpus > 0) told += fmt::format(", {} each", plural(request.gpus, "GPU"));
    if (request.servers > 0) told += fmt::format(", {}", plural(request.servers, "server"));
    return told;
}

}  // namespace

std::vector<std::string> modules_of_script(const std::string& script) {
    std::vector<std::string> modules;
    if (script.empty()) return modules;
    const fs::path folder = fs::path(script).parent_path();
    std::set<std::string> seen;
    std::deque<fs::path> files{script};
    for (std::size_t read = 0; !files.empty() && read < kMostFiles; ++read) {
        const std::string text = beginning_of(files.front());
        files.pop_front();
        for (std::string& module : imported_modules(text)) {
            if (!seen.insert(module).second) continue;
            std::error_code failed;
            const fs::path file = folder / (module + ".py");
            const fs::path package = folder / module / "__init__.py";
            if (fs::is_regular_file(file, failed))
                files.push_back(file);
            else if (fs::is_regular_file(package, failed))
                files.push_back(package);
            else
                modules.push_back(std::move(module));
        }
    }
    return modules;
}

Result<ScriptJob> make_script_job(const ScriptOptions& options,
                                  const control_plane::Machine& machine, bool on_cluster) {
    JobRequest request = options.request;
    request.command = options.command;
    const std::string script = script_of_command(request.command);
    if (!on_cluster)
        if (Result<void> there = look_at_script(script, request.command.front()); !there)
            return there.error();
    Result<std::string> because = choose_framework(options, script, request);
    if (!because) return because.error();
    if (on_cluster && request.image.empty())
        return Error(Code::kInvalid,
                     "--image is missing: a cluster's pods run in an image, which has the program "
                     "and what it needs");
    if (!on_cluster) take_devices(options, machine, request);
    count_processes(options, request);
    if (request.name.empty())
        request.name = job_name_from(script.empty() ? request.command.front() : script);
    if (auto why = impossible(request)) return Error(Code::kInvalid, *why);
    json::object job = job_manifest(request);
    ScriptJob made;
    made.told = told_of(request, job, *because);
    made.document.source = script.empty() ? request.command.front() : script;
    made.document.object = std::move(job);
    return made;
}

}  // namespace muster::cli
