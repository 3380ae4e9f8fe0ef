#include "cli/internal/run_places/recorded_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/time/real_clock.h"
#include "base/visible_text.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/run/submission.h"
#include "cli/internal/run_places/notify.h"

namespace muster::cli {

namespace {

/// Of the child in the background: what Muster itself says, as opposed to what the run shows.
constexpr const char* kBackgroundLog = "muster.log";

/// A run is called after its first job.
std::string job_of(const std::vector<manifest::CheckedObject>& objects) {
    for (const manifest::CheckedObject& object : objects)
        if (is_workload(object)) return object.name;
    return "run";
}

RunRecord record_of(const RunOptions& options, const control_plane::Caller& caller) {
    RunRecord record;
    record.command = options.command;
    record.directory = caller.working_dir;
    record.version = MUSTER_VERSION;
    record.on_cluster = options.cluster.has_value();
    if (options.cluster) {
        record.kubeconfig = options.cluster->kubeconfig;
        record.context = options.cluster->context;
    }
    record.in_background = options.detach;
    record.started = RealClock().wall_now();
    return record;
}

}  // namespace

Result<std::unique_ptr<RecordedRun>> RecordedRun::begin(
    const RunOptions& options, const control_plane::Caller& caller,
    const std::vector<manifest::CheckedObject>& objects, asio::io_context* loop) {
    std::optional<RunFolder> folder;
    std::optional<Error> no_folder;
    if (!options.no_record) {
        Result<RunFolder> made = RunFolder::create(runs_directory(caller), job_of(objects));
        if (made)
            folder = *std::move(made);
        else
            no_folder = made.error();
    }
    if (options.detach && !folder)
        return Error(no_folder ? no_folder->code() : Code::kInvalid,
                     fmt::format("--detach needs a folder for its output, and {}; MUSTER_RUNS_DIR "
                                 "names another place",
                                 no_folder ? no_folder->message() : "there is none"));
    RunRecorder recorder(std::move(folder), record_of(options, caller), caller, objects);
    std::unique_ptr<RecordedRun> run(
        new RecordedRun(options, caller, std::move(recorder), std::move(no_folder)));
    if (options.detach) TRY_VOID(run->enter_background(loop));
    run->recorder_.begin(::getpid());
    return run;
}

Result<void> RecordedRun::enter_background(asio::io_context* loop) {
    if (loop != nullptr) loop->notify_fork(asio::io_context::fork_prepare);
    TRY(auto background,
        control_plane::Background::start("muster run", recorder_.folder() / kBackgroundLog,
                                         [] { return RealClock().wall_now(); }));
    if (loop != nullptr) loop->notify_fork(asio::io_context::fork_child);
    background_.emplace(std::move(background));
    return {};
}

ConsoleOptions RecordedRun::recorded(ConsoleOptions shown) {
    shown.hidden = background_.has_value();
    if (recorder_.has_folder())
        shown.copy = [this](std::string_view lines) { recorder_.add_output(lines); };
    return shown;
}

RunSession::Options RecordedRun::recorded(RunSession::Options options, kube::Client& client,
                                          Clock& clock) {
    if (recorder_.has_folder())
        options.before_removal = [this, &client, &clock] {
            return recorder_.take_last(client, clock);
        };
    return options;
}

void RecordedRun::tell_start(Console& console) {
    if (no_folder_)
        console.tell({Tone::kBad, fmt::format("this run is not kept for 'muster ps' and 'muster "
                                              "logs': {} (--no-record: without this line)",
                                              no_folder_->message())});
}

void RecordedRun::follow(TaskGroup& tasks, RunSession& session, kube::Client& client,
                         Clock& clock) {
    if (recorder_.has_folder())
        tasks.spawn("record of the run", recorder_.follow(session, client, clock));
    if (background_) tasks.spawn_essential("start in the background", announce(session));
}

Task<void> RecordedRun::announce(RunSession& session) {
    while (!session.posted()) co_await session.changed().wait();
    const std::string& name = recorder_.record().name;
    background_->ready(
        fmt::format("{0} runs in the background\n"
                    "  muster attach {0}     shows its output; Ctrl-C leaves it running\n"
                    "  muster logs -f {0}    follows its pods' logs\n"
                    "  muster stop {0}       ends it\n",
                    name));
    background_.reset();
}

void RecordedRun::end(const RunSession& session, int status, WallTime now, Console& console) {
    const bool began = session.posted() || !session.verdicts().empty();
    if (!began && !background_) return recorder_.discard();
    recorder_.end(session, status, now);
    if (const auto failed = recorder_.take_failure())
        console.tell({Tone::kBad, "the record of this run is not complete: " + failed->message()});
    if (!began && background_)
        background_->failed(fmt::format("muster run: it was not started; see {}\n",
                                        (recorder_.folder() / kBackgroundLog).string()));
    if (options_.notify.empty() || !began) return;
    if (Result<void> notified = notify(options_.notify, recorder_.record(), caller_); !notified)
        console.tell({Tone::kBad, "--notify: " + notified.error().message()});
}

int RecordedRun::fail(const Error& error) {
    if (!background_) {
        recorder_.discard();
        return fail_run(error);
    }
    recorder_.fail(error, RealClock().wall_now());
    background_->failed(fmt::format("muster run: {}\n", visible_text(error.message())));
    return 1;
}

}  // namespace muster::cli
