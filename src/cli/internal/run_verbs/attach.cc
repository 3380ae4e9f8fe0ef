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
#include "cli/internal/objects/object_print.h"
#include "cli/internal/record/run_folder.h"
#include "cli/internal/runs/named_run.h"
#include "cli/internal/runs/run_watch.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

namespace {

constexpr const char* kAttachVerb = "attach";
constexpr std::string_view kAttachHelp =
    R"(Shows what a run prints, from its beginning, until it has ended, and exits as it did.

Usage: muster attach RUN

RUN is the name that 'muster ps' shows, or that of a job, whose newest run it means then. Ctrl-C ends this command
and leaves the run alone; 'muster stop RUN' ends it. Of a job of a server, 'muster logs -f JOB' shows the same.

Exit status: that of the run; 1 when there is no such run, or when its process was killed.

Examples:
  muster attach train-1
  muster attach train
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

Result<int> attach(const std::string& name) {
    Result<FoundRun> found = require_run(name, control_plane::current_caller());
    if (!found)
        return Error(found.error().code(),
                     fmt::format("{}; 'muster logs -f {}' follows a job of a server",
                                 found.error().message(), name));
    const FoundRun run = *std::move(found);
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

struct AttachOptions {
    std::string run;
};

class AttachVerb final : public VerbOf<AttachOptions> {
  public:
    AttachVerb() : VerbOf(kAttachVerb, kAttachHelp) {}

    void declare(Flags& flags) override { flags.value("run", options_.run); }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.run.empty()) return "name a run; 'muster ps' lists them";
        return std::nullopt;
    }
    int run() override {
        const Result<int> status = attach(options_.run);
        if (status) return *status;
        tell_error(kAttachVerb, status.error());
        return 1;
    }
};

}  // namespace

std::unique_ptr<Verb> attach_verb() { return std::make_unique<AttachVerb>(); }

}  // namespace muster::cli
