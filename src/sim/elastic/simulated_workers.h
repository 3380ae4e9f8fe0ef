#pragma once

#include <csignal>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "sim/elastic/invariants.h"
#include "workers/workers.h"

namespace muster::sim::elastic {

/// The workers of one simulated node. They outlive agents, as those behind shims do, and end when
/// they are killed, stopped, or told that the program's work is done.
class SimulatedWorkers final : public workers::Workers {
  public:
    struct Times {
        Duration start = std::chrono::milliseconds(5);
        Duration stop =
            std::chrono::milliseconds(3);  ///< after SIGTERM; more than the grace: never
    };

    SimulatedWorkers(const asio::any_io_executor& executor, Clock& clock, Invariants& invariants,
                     std::string node, Times times)
        : clock_(clock),
          truth_(invariants),
          node_(std::move(node)),
          times_(times),
          changed_(executor),
          tasks_(executor) {}

    std::optional<job_protocol::World> running() const override {
        return set_ ? std::optional(set_->world) : std::nullopt;
    }

    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> workers) override {
        if (set_) truth_.wrong("ranks", node_ + ": workers start beside others");
        if (fails_to_start) {
            truth_.not_started(node_, world);
            co_return Error(Code::kNotFound, "worker 0: no such program");
        }
        truth_.began(node_, world);
        set_.emplace(Set{.number = ++sets_, .world = std::move(world), .alive = {}});
        set_->alive.assign(workers.size(), true);
        // Also when the agent that began them is gone by then.
        tasks_.spawn("first step", finish_if_done(set_->number));
        co_await clock_.sleep_for(times_.start);
        co_return Result<void>();
    }

    Task<workers::WorkerEnd> next_end() override {
        // An agent that was killed is told nothing more.
        const std::uint64_t reader = readers_;
        while (ends_.empty() || reader != readers_) co_await changed_.wait();
        workers::WorkerEnd end = std::move(ends_.front());
        ends_.pop_front();
        co_return end;
    }

    Task<void> stop(Duration grace) override {
        if (!set_) co_return;
        truth_.stops(node_, set_->world, grace);
        const std::uint64_t number = set_->number;
        if (!std::exchange(set_->stopping, true)) {
            ends_.clear();
            // Also when the agent that asked for it is gone.
            tasks_.spawn("stop", end_after(number, std::min(times_.stop, grace)));
        }
        while (set_ && set_->number == number) co_await changed_.wait();
    }

    std::optional<std::uint64_t> steps() const override {
        return set_ ? set_->steps : std::nullopt;
    }

    // ---- what happens to them

    /// Another agent has come, and knows nothing.
    void found_again() {
        ++readers_;
        if (!set_) return;
        set_->stopping = false;
        ends_.assign(set_->ends.begin(), set_->ends.end());
    }

    struct Death {
        std::optional<int> exit_code = {};  ///< without one: a signal
        int signal = 0;
        bool out_of_memory = false;
        std::string error = {};
    };
    /// One of them ends; false: it does not run.
    bool end(int local_rank, std::optional<int> exit_code, int signal, std::string error = "") {
        return end(local_rank,
                   Death{.exit_code = exit_code, .signal = signal, .error = std::move(error)});
    }
    bool end(int local_rank, Death death) {
        if (!set_ || set_->stopping) return false;
        const auto at = static_cast<std::size_t>(local_rank);
        if (at >= set_->alive.size() || !set_->alive[at]) return false;
        set_->alive[at] = false;
        const int rank = set_->world.own().first_rank + local_rank;
        truth_.worker_ended(
            node_, set_->world, rank,
            death.exit_code == 0 ? Invariants::WorkerEnded::kDone : Invariants::WorkerEnded::kDied,
            death.error);
        workers::WorkerEnd end{.generation = set_->world.generation,
                               .local_rank = local_rank,
                               .rank = rank,
                               .exit_code = death.exit_code,
                               .signal = death.signal,
                               .out_of_memory = death.out_of_memory,
                               .error = std::move(death.error),
                               .when = clock_.wall_now()};
        set_->ends.push_back(end);
        ends_.push_back(std::move(end));
        changed_.notify_all();
        return true;
    }
    /// Those that run make progress, and show it; false: none does.
    bool step() {
        if (live() == 0) return false;
        set_->steps = set_->steps.value_or(0) + 1;
        return true;
    }
    /// All are gone, and the agent is not told.
    void vanish() {
        if (!set_) return;
        truth_.say(node_ + ": workers vanish");
        end_set();
        ends_.clear();
        changed_.notify_all();
    }
    /// The program's work is done: who runs ends with 0, and who starts, too.
    void finish() {
        is_done_ = true;
        if (!set_) return;
        for (int i = 0; i < static_cast<int>(set_->alive.size()); ++i) end(i, 0, 0);
    }
    std::size_t live() const {
        if (!set_ || set_->stopping) return 0;
        return static_cast<std::size_t>(std::ranges::count(set_->alive, true));
    }
    Task<void> close() { return tasks_.stop(); }

    bool fails_to_start = false;

  private:
    struct Set {
        std::uint64_t number;
        job_protocol::World world;
        std::vector<bool> alive;
        bool stopping = false;
        std::vector<workers::WorkerEnd> ends = {};
        std::optional<std::uint64_t> steps = {};
    };

    Task<void> finish_if_done(std::uint64_t number) {
        co_await clock_.sleep_for(times_.start);
        if (is_done_ && set_ && set_->number == number) finish();
    }
    Task<void> end_after(std::uint64_t number, Duration time) {
        co_await clock_.sleep_for(time);
        if (set_ && set_->number == number) {
            if (set_->stopping)
                end_set();
            else  // Who asked for it is gone.
                for (int i = 0; i < static_cast<int>(set_->alive.size()); ++i) end(i, {}, SIGTERM);
        }
        changed_.notify_all();
    }
    void end_set() {
        for (std::size_t i = 0; i < set_->alive.size(); ++i)
            if (set_->alive[i])
                truth_.worker_ended(node_, set_->world,
                                    set_->world.own().first_rank + static_cast<int>(i),
                                    Invariants::WorkerEnded::kStopped);
        set_.reset();
    }

    Clock& clock_;
    Invariants& truth_;
    std::string node_;
    Times times_;
    std::uint64_t sets_ = 0;
    std::uint64_t readers_ = 0;
    std::optional<Set> set_;
    std::deque<workers::WorkerEnd> ends_;
    bool is_done_ = false;
    Signal changed_;
    TaskGroup tasks_;
};

/// What one life of an agent has of them: once it is killed it does nothing more to them, also what
/// it was about to do.
class WorkersOfOneLife final : public workers::Workers {
  public:
    WorkersOfOneLife(const asio::any_io_executor& executor, SimulatedWorkers& workers)
        : workers_(workers), never_(executor) {}

    void kill() { killed_ = true; }

    std::optional<job_protocol::World> running() const override { return workers_.running(); }
    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> workers) override {
        while (killed_) co_await never_.wait();
        co_return co_await workers_.start(std::move(world), std::move(workers));
    }
    Task<workers::WorkerEnd> next_end() override { return workers_.next_end(); }
    Task<void> stop(Duration grace) override {
        while (killed_) co_await never_.wait();
        co_await workers_.stop(grace);
    }
    std::optional<std::uint64_t> steps() const override { return workers_.steps(); }

  private:
    SimulatedWorkers& workers_;
    bool killed_ = false;
    Signal never_;
};

}  // namespace muster::sim::elastic
