#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/describe/daemon_status.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/run/views.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_files.h"
#include "control_plane/daemon/state_home.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStatusHelp =
    R"(Shows whether 'muster up' is running, and where: its address, version, jobs and use of the disk.

Usage: muster status [FLAGS]

      --state DIR            its state directory (default: ~/.muster)
  -o, --output FORMAT        json: one object; its fields are in docs/serving.md

Exit status: 0 when it is running, 3 when it is not, 1 when it is running but can't store anything, with the reason
(such as a full disk).
)";

constexpr Duration kStatusPatience = std::chrono::seconds(10);
constexpr int kStatusOk = 200;
constexpr int kNotUp = 3;
constexpr int kJobsInAPage = 500;

std::optional<std::uint64_t> size_below(const fs::path& directory) {
    std::error_code failed;
    std::uint64_t bytes = 0;
    for (fs::recursive_directory_iterator
             at(directory, fs::directory_options::skip_permission_denied, failed),
         end;
         !failed && at != end; at.increment(failed)) {
        struct stat info{};
        if (::lstat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode))
            bytes += static_cast<std::uint64_t>(info.st_size);
    }
    if (failed) return std::nullopt;
    return bytes;
}

void measure_disk(const fs::path& home, DaemonStatus& status) {
    const fs::path store = home / control_plane::kStoreFile;
    for (const char* part : {"", "-wal"}) {
        std::error_code missing;
        const std::uint64_t size = fs::file_size(store.string() + part, missing);
        if (!missing) status.store_bytes = status.store_bytes.value_or(0) + size;
    }
    status.log_bytes = size_below(home / "logs");
    std::error_code failed;
    const fs::space_info space = fs::space(home, failed);
    if (!failed) status.free_bytes = space.available;
}

void count(const kube::ListResult& page, JobCounts& counts) {
    for (const kube::ObjectPtr& object : page.items) {
        const std::optional<JobView> job = job_view(*object);
        if (!job) continue;
        ++(job->succeeded() ? counts.succeeded : job->failed() ? counts.failed : counts.unfinished);
    }
}

Task<Result<JobCounts>> count_jobs(Connection& server) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(server));
    JobCounts counts;
    std::set<std::string> counted;
    for (const ApiResource& kind : catalog.all()) {
        if (!is_of_jobs(kind) || !kind.can("list")) continue;
        // A kind has all of its jobs in each of its versions.
        if (!counted.insert(kind.type.plural).second) continue;
        kube::ListOptions options;
        options.limit = kJobsInAPage;
        do {
            CO_TRY(const kube::ListResult page, co_await server.client().list(kind.type, options));
            count(page, counts);
            options.continue_ = page.continue_;
        } while (!options.continue_.empty());
    }
    co_return counts;
}

/// A running process may still be unable to store anything.
Task<Result<int>> ask_server(Connection& server, DaemonStatus& status) {
    auto answer = co_await server.ask("/readyz", kStatusPatience);
    if (!answer || answer->status != kStatusOk)
        status.not_ready = answer ? answer->body : answer.error().message();
    // Without a server that answers, the rest would take as long again.
    if (answer)
        if (auto jobs = co_await count_jobs(server)) status.jobs = *jobs;
    co_return status.not_ready.empty() ? 0 : 1;
}

Result<DaemonStatus> find_status(const fs::path& home) {
    DaemonStatus status;
    status.directory = home.string();
    TRY(const auto daemon, control_plane::find_daemon(home));
    // A lock that can't be read changes nothing that is said below.
    const auto supervisor = control_plane::find_daemon(home, control_plane::StateLock::kSupervisor);
    if (supervisor && *supervisor) status.supervisor = (**supervisor).pid;
    if (!daemon) return status;
    status.state =
        daemon->address.empty() ? DaemonStatus::State::kStarting : DaemonStatus::State::kUp;
    status.process = daemon->pid;
    status.address = daemon->address;
    status.version = daemon->version;
    return status;
}

int tell(const DaemonStatus& status, OutputFormat output, int code) {
    if (output == OutputFormat::kJson)
        print_exact(status_json(status));
    else
        print(status_text(status));
    if (!status.not_ready.empty())
        tell_error("status", Error(Code::kUnavailable, "it is not ready: " + status.not_ready));
    return code;
}

int status_of(const StatusOptions& options) {
    const fs::path home =
        control_plane::state_path(options.state_dir, control_plane::current_caller());
    auto found = find_status(home);
    if (!found) {
        tell_error("status", found.error());
        return 1;
    }
    DaemonStatus& status = *found;
    measure_disk(home, status);
    if (status.state != DaemonStatus::State::kUp)
        return tell(status, options.output,
                    status.state == DaemonStatus::State::kDown ? kNotUp : 0);
    const ServerOptions server{
        .kubeconfig = home / "kubeconfig", .context = "muster", .namespace_ = {}};
    const int code = on_server("status", server, [&status](Connection& connection) {
        return ask_server(connection, status);
    });
    return tell(status, options.output, code);
}

class StatusVerb final : public VerbOf<StatusOptions> {
  public:
    StatusVerb() : VerbOf("status", kStatusHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (output_ == "yaml") return "--output wants json, not \"yaml\"";
        return read_output(output_, options_.output);
    }
    int run() override { return status_of(options_); }

  private:
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> status_verb() { return std::make_unique<StatusVerb>(); }

}  // namespace muster::cli
