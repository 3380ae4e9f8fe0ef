#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/unique_fd.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/logs/job_logs.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/run/views.h"
#include "cli/internal/run_verbs/named_job.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_watch.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr const char* kAttachVerb = "attach";
constexpr std::string_view kAttachHelp =
    R"(Shows what a run or a job prints until it has ended, and exits as it did.

Usage: muster attach RUN | JOB | KIND/JOB [FLAGS]

A run is shown from its beginning, as on its own terminal: its name is the one that 'muster ps' shows, or that of
its job, whose newest run it means then. Of a job of a server all logs are shown, as by 'muster logs -f'. Ctrl-C
ends this command and leaves the run alone; 'muster stop RUN' ends it.

      --raw                  of a job: a terminal gets all that a program wrote, as in 'muster logs'
  -n, --namespace, --context, --kubeconfig
                             as in 'muster get'; a job of that server is meant then

Exit status: that of the run; of a job 0 when it succeeded, else 1; 1 when there is no such run or job, or when
the run's process was killed.

Examples:
  muster attach train-1
  muster attach train
  muster attach pytorchjob/digits
)";

/// Copies a file that grows, and the ones that take its place, to standard output.
class OutputCopy {
  public:
    explicit OutputCopy(std::filesystem::path path) : path_(std::move(path)) {
        // What went before is in the older file.
        copy_of(path_.string() + ".1");
    }

    void copy() {
        for (;;) {
            if (!file_) file_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
            if (!file_) return;
            const bool replaced = is_replaced();
            copy_rest();
            if (!replaced) return;
            file_.reset();
        }
    }

  private:
    bool is_replaced() const {
        struct stat ours{};
        struct stat there{};
        return ::fstat(file_.get(), &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
               ours.st_ino != there.st_ino;
    }

    void copy_rest() {
        std::array<char, 64 * 1024> buffer;
        for (;;) {
            const ssize_t size = ::read(file_.get(), buffer.data(), buffer.size());
            if (size <= 0) return;
            print(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
        }
    }

    void copy_of(const std::string& older) {
        file_.reset(::open(older.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (file_) copy_rest();
        file_.reset();
    }

    std::filesystem::path path_;
    UniqueFd file_;
};

Task<Result<void>> follow(const FoundRun& run, OutputCopy& output) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    Result<std::unique_ptr<RunWatch>> watch = RunWatch::create(tasks, run);
    if (watch) {
        (*watch)->start();
        while (!(*watch)->ended()) {
            output.copy();
            co_await (*watch)->changed().wait();
        }
    }
    co_await tasks.stop();
    if (!watch) co_return std::move(watch.error());
    co_return Result<void>();
}

struct AttachOptions {
    ServerOptions server;
    std::string about;
    bool raw = false;
};

Result<int> attach_run(const FoundRun& run) {
    // Also where a shell has started it with this signal ignored, as in the background of a script.
    std::signal(SIGINT, SIG_DFL);
    asio::io_context context(1);
    OutputCopy output(run.folder / kOutputFile);
    if (run.alive) TRY_VOID(run_to_end(context, follow(run, output)));
    output.copy();
    TRY(const FoundRun now, read_run(run.folder));
    if (now.record.end) return now.record.end->status;
    return Error(Code::kUnavailable,
                 fmt::format("run {} has no end: its process was killed", now.record.name));
}

/// 0 for success. An object that is gone can't say how it ended.
Task<Result<int>> status_of(Connection& connection, NamedJob job) {
    CO_TRY(const kube::ObjectPtr now,
           co_await connection.client().get(job.type, job.namespace_, job.name));
    if (job.type == kube::types::kPods) {
        const std::optional<PodView> pod = pod_view(*now);
        co_return pod && pod->phase == "Succeeded" ? 0 : 1;
    }
    const std::optional<JobView> view = job_view(*now);
    co_return view && view->succeeded() ? 0 : 1;
}

Task<Result<int>> attach_job(Connection& connection, const LogsOptions& logs, Console& console) {
    CO_TRY(const NamedJob job, co_await find_job(connection, logs.about));
    CO_TRY_VOID(co_await show_job_logs(connection, logs, console, kAttachVerb));
    co_return co_await status_of(connection, job);
}

int attach(const AttachOptions& options) {
    const control_plane::Caller caller = control_plane::current_caller();
    LogsOptions logs;
    logs.server = options.server;
    logs.about = options.about;
    logs.follow = true;
    ConsoleOptions shown = console_for(false, false, !caller.variable("NO_COLOR").empty());
    shown.raw = options.raw;
    Console console(shown);
    return on_run_or_server(
        kAttachVerb, options.about, options.server, attach_run,
        [&](Connection& connection) { return attach_job(connection, logs, console); });
}

class AttachVerb final : public VerbOf<AttachOptions> {
  public:
    AttachVerb() : VerbOf(kAttachVerb, kAttachHelp) {}

    void declare(Flags& flags) override {
        declare_server_flags(flags, options_.server);
        flags.value("about", options_.about);
        flags.flag("--raw", options_.raw);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.about.empty()) return "name a run or a job; 'muster ps' lists them";
        return std::nullopt;
    }
    int run() override { return attach(options_); }
};

}  // namespace

std::unique_ptr<Verb> attach_verb() { return std::make_unique<AttachVerb>(); }

}  // namespace muster::cli
