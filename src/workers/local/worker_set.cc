#include "workers/local/worker_set.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "base/time/time_limit.h"
#include "workers/worker/error_file.h"

namespace muster::workers {

namespace {

/// A program may come over a slow network before it runs.
constexpr Duration kShimStarts = std::chrono::seconds(60);
/// After this time a worker that delays a stop is logged.
constexpr Duration kStopIsSlow = std::chrono::seconds(5);

Failure remembered(WorkerEnd end) {
    Failure failure{.end = std::move(end)};
    if (failure.end.error_file.empty()) return failure;
    if (auto file = read_error_file(failure.end.error_file)) {
        failure.traceback = std::move(file->traceback);
        failure.content = std::move(file->content);
    }
    return failure;
}

}  // namespace

WorkerSet::WorkerSet(asio::any_io_executor executor, Clock& clock, const JobDirectory& directory)
    : executor_(std::move(executor)),
      clock_(clock),
      directory_(directory),
      kills_(MemoryKills::of_this_process()),
      changed_(executor_),
      ends_changed_(executor_) {}

// ---- how a set comes to be

Task<void> WorkerSet::take_over() {
    auto found = load_worker_set_state(directory_.path());
    if (!found) {
        log::warning("the state of an earlier agent can't be read: its workers are not taken over",
                     {{"error", found.error().message()}});
        co_return;
    }
    if (!*found) co_return;
    state_ = **std::move(found);
    std::vector<WorkerRecord> lost;
    for (const WorkerRecord& record : state_->workers) {
        Result<UniqueFd> control = find_shim(directory_.fd(), record.socket);
        Result<ProgressFile> progress = ProgressFile::open(record.progress);
        if (!control || !progress) {
            lost.push_back(record);
            continue;
        }
        add(record, *std::move(progress), *std::move(control), 0);
    }
    if (workers_.empty()) co_return forget();
    co_await wait_until_started();
    for (const WorkerRecord& record : lost) add_lost(record);
    log::info("workers of an earlier agent were taken over",
              {{"generation", state_->world.generation.number}, {"workers", workers_.size()}});
}

void WorkerSet::add_lost(const WorkerRecord& record) {
    WorkerEnd end;
    end.generation = state_->world.generation;
    end.local_rank = record.local_rank;
    end.rank = record.rank;
    end.signal = SIGKILL;
    end.error = "it ended together with its shim while no agent was running";
    end.when = clock_.wall_now();
    ends_.push_back(std::move(end));
}

void WorkerSet::begin(job_protocol::World world) {
    CHECK(!state_, "workers were started while others run");
    state_.emplace(WorkerSetState{.world = std::move(world), .workers = {}});
}

WorkerRecord& WorkerSet::record_of(int local_rank) {
    return *std::ranges::find(state_->workers, local_rank, &WorkerRecord::local_rank);
}

Result<void> WorkerSet::save() const { return save_worker_set_state(directory_.path(), *state_); }

void WorkerSet::add(WorkerRecord record, ProgressFile progress, UniqueFd control, pid_t shim) {
    workers_.push_back(std::make_unique<Worker>(executor_, std::move(record), std::move(progress),
                                                std::move(control), shim, changed_, on_end()));
    workers_.back()->watch(clock_);
}

void WorkerSet::add(std::unique_ptr<Worker> spare, const WorkerRecord& record) {
    spare->become(record, on_end());
    workers_.push_back(std::move(spare));
}

Task<void> WorkerSet::wait_until_started() {
    (void)co_await within(clock_, kShimStarts, [](WorkerSet& set) -> Task<bool> {
        co_await set.all_started();
        co_return true;
    }(*this));
}

Task<void> WorkerSet::all_started() {
    const auto starting = [](const auto& worker) {
        return worker->state() == Worker::State::kStarting;
    };
    while (std::ranges::any_of(workers_, starting)) co_await changed_.wait();
}

// ---- how its workers end

std::function<void(Worker&, ProcessEnd)> WorkerSet::on_end() {
    return [this](Worker& worker, ProcessEnd how) { ended(worker, std::move(how)); };
}

void WorkerSet::ended(Worker& worker, ProcessEnd how) {
    Failure failure = failure_of(worker, std::move(how));
    if (!stopping_) {
        ends_.push_back(std::move(failure.end));
        ends_changed_.notify_all();
    } else if (is_own_failure(failure.end)) {
        late_.push_back(std::move(failure));
    }
}

/// Whether a worker that ended while the set was being ended failed by itself.
bool WorkerSet::is_own_failure(const WorkerEnd& end) const {
    // It may have been killed after it had written the error.
    if (end.exit_code != 0 && !end.error_file.empty()) return true;
    // An exit code without an error is likely the answer to the signal.
    if (end.exit_code) return false;
    return end.out_of_memory || (end.signal != end_signal_ && end.signal != SIGKILL);
}

Failure WorkerSet::failure_of(Worker& worker, ProcessEnd how) {
    Failure failure;
    WorkerEnd& end = failure.end;
    end.generation = state_->world.generation;
    end.local_rank = worker.record().local_rank;
    end.rank = worker.record().rank;
    end.pid = worker.pid();
    end.steps = worker.steps();
    end.when = how.when.value_or(clock_.wall_now());
    end.error = std::move(how.why);
    if (WIFEXITED(how.wait_status)) {
        end.exit_code = WEXITSTATUS(how.wait_status);
    } else {
        end.signal = WTERMSIG(how.wait_status);
        end.out_of_memory = end.signal == SIGKILL && kills_.take_one();
    }
    if (end.exit_code != 0 && !worker.record().error_file.empty()) {
        if (auto file = read_error_file(worker.record().error_file)) {
            end.error = std::move(file->message);
            failure.traceback = std::move(file->traceback);
            failure.content = std::move(file->content);
            end.error_file = worker.record().error_file;
            // It was written before the end; a later time comes from another clock.
            if (file->when && *file->when < end.when) end.when = *file->when;
        }
    }
    return failure;
}

Task<WorkerEnd> WorkerSet::next_end() {
    while (ends_.empty()) co_await ends_changed_.wait();
    const auto first = std::ranges::min_element(ends_, {}, &WorkerEnd::when);
    WorkerEnd end = std::move(*first);
    ends_.erase(first);
    co_return end;
}

Task<void> WorkerSet::all_gone() {
    const auto there = [](const auto& worker) { return worker->state() != Worker::State::kGone; };
    while (std::ranges::any_of(workers_, there)) co_await changed_.wait();
}

Task<void> WorkerSet::end(Duration grace) {
    stopping_ = true;
    late_.clear();
    for (WorkerEnd& end : ends_)
        if (end.exit_code != 0) late_.push_back(remembered(std::move(end)));
    ends_.clear();
    for (const auto& worker : workers_) worker->request_end(grace, end_signal_);
    for (Duration patience = grace + kStopIsSlow;; patience = kStopIsSlow) {
        const auto gone = co_await within(clock_, patience, [](WorkerSet& set) -> Task<bool> {
            co_await set.all_gone();
            co_return true;
        }(*this));
        if (gone) break;
        for (const auto& worker : workers_)
            if (worker->state() != Worker::State::kGone && worker->only_shows())
                log::warning("a stopped worker's output is still being read from the console",
                             {{"rank", worker->record().rank}});
            else if (worker->state() != Worker::State::kGone)
                log::warning(
                    "a stopped worker is still there: one of its processes does not die, perhaps "
                    "because it waits for a disk or a device",
                    {{"rank", worker->record().rank}, {"pid", worker->pid()}});
    }
    for (const auto& worker : workers_) co_await worker->gone();
    forget();
}

void WorkerSet::hurry() {
    if (!stopping_) return;
    for (const auto& worker : workers_) worker->request_end(Duration(0), SIGKILL);
}

Task<void> WorkerSet::let_go() {
    for (const auto& worker : workers_) co_await worker->let_go();
    workers_.clear();
    state_.reset();
    ends_.clear();
}

/// And removes its files.
void WorkerSet::forget() {
    workers_.clear();
    const auto remove = [this](const std::string& name) {
        ::unlink((directory_.path() / name).c_str());
    };
    for (const WorkerRecord& record : state_->workers) {
        remove(record.socket);
        ::unlink(record.progress.c_str());
        remove(fmt::format("error-{}.json", record.local_rank));
    }
    remove(std::string(kWorkerSetStateName));
    state_.reset();
    ends_.clear();
    stopping_ = false;
}

}  // namespace muster::workers
