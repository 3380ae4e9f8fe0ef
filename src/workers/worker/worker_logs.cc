#include "workers/worker/worker_logs.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "base/parse_number.h"
#include "base/rng.h"

namespace muster::workers {

namespace fs = std::filesystem;

namespace {

/// A full disk must cost logs, not the run.
bool is_full_disk(int error) { return error == ENOSPC || error == EDQUOT; }

Result<void> make_directories(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) return {};
    if (!is_full_disk(error.value()))
        return system_error(fmt::format("making the log directory {} (--log-dir)", path.string()),
                            error.value());
    log::warning("a log directory could not be made: output is lost until there is room",
                 {{"directory", path.string()}, {"error", error.message()}});
    return {};
}

void warn_of_owner(const fs::path& directory) {
    struct stat info{};
    if (::stat(directory.c_str(), &info) < 0 || info.st_uid == ::geteuid() || info.st_uid == 0)
        return;
    log::warning(
        "the log directory belongs to another user, who can read and replace what is written there "
        "(--log-dir)",
        {{"directory", directory.string()}, {"user", info.st_uid}});
}

}  // namespace

std::string value_of(const launch::WorkerStart& worker, const std::string& variable,
                     const std::string& otherwise) {
    for (const auto& [name, value] : worker.environment)
        if (name == variable) return value;
    return otherwise;
}

Result<void> WorkerLogs::make_run_directory(const std::string& run_id) {
    if (!run_.empty()) return {};
    std::error_code error;
    if (!plan_.directory() && !plan_.wants_files()) return {};
    const fs::path base = fs::absolute(plan_.directory().value_or(temporary_), error);
    if (error) return system_error("finding the log directory (--log-dir)", error.value());
    if (fs::exists(base, error) && !fs::is_directory(base, error))
        return Error(Code::kInvalid, fmt::format("--log-dir {} is not a directory", base.string()));
    TRY_VOID(make_directories(base));
    warn_of_owner(base);
    if (!run_level_ && plan_.directory()) {
        run_ = base;
        return {};
    }
    const std::string prefix =
        base / fmt::format("{}{}_", plan_.directory() ? "" : "muster_", directory_name(run_id));
    std::string name = prefix + "XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        if (!is_full_disk(errno))
            return system_error(
                fmt::format("making a log directory in {} (--log-dir)", base.string()), errno);
        // Made when there is room, under a name that no other user can have taken before.
        name = fmt::format("{}{:016x}", prefix, Rng::from_system().next());
    }
    run_ = name;
    log::info("log directory", {{"directory", run_.string()}});
    return {};
}

Result<WorkerFiles> WorkerLogs::prepare(const launch::WorkerStart& worker, const fs::path& own) {
    TRY_VOID(make_run_directory(value_of(worker, "TORCHELASTIC_RUN_ID", "none")));
    const RankLogPlan streams = plan_.of(worker.local_rank);
    fs::path directory;
    WorkerFiles files;
    if (!run_.empty()) {
        const std::string text = value_of(worker, "TORCHELASTIC_RESTART_COUNT", "0");
        const int restarts = leading_number<int>(text).value_or(0);
        directory = run_ / attempt_directory(restarts) / std::to_string(worker.local_rank);
        TRY_VOID(make_directories(directory));
        files.error_file = directory / "error.json";
    } else if (!plan_.no_files()) {
        files.error_file = own / fmt::format("error-{}.json", worker.local_rank);
    }
    if (!files.error_file.empty()) ::unlink(files.error_file.c_str());
    const std::string prefix = plan_.prefix({.role = value_of(worker, "ROLE_NAME", "default"),
                                             .rank = worker.rank,
                                             .local_rank = worker.local_rank});
    const auto order = [&](const StreamPlan& stream, const std::string& name,
                           const std::vector<std::string>& texts) {
        OutputOrder made;
        made.inherit = stream.console == StreamPlan::Console::kDirect;
        if (made.inherit) return made;
        if (stream.file) made.file = directory / name;
        made.console = stream.console == StreamPlan::Console::kPrefixed;
        if (made.console) made.prefix = prefix;
        if (stream.filtered) {
            made.filtered = directory.parent_path() / ("filtered_" + name);
            made.texts = texts;
        }
        return made;
    };
    files.out = order(streams.out, "stdout.log", plan_.out_texts());
    files.error = order(streams.error, "stderr.log", plan_.error_texts());
    return files;
}

}  // namespace muster::workers
