#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "workers/warm/messages.h"
#include "workers/warm/recipe.h"
#include "workers/worker/worker.h"

namespace muster::workers {

/// One warm spare under its own shim: a Python process that imports modules, waits, and then
/// becomes a worker (docs/design/warm.md). Owns the connection to its shim and its own end of the
/// conversation with the spare.
///
/// Stop order: become() and release(), or end(); then destroy. Thread: the loop.
class Spare {
  public:
    /// `worker` is the process, as for any shim, and `control` our end of its conversation.
    /// `changed` is notified of each step. `killed` gets the signal that killed the spare, unless
    /// we sent it.
    Spare(asio::any_io_executor executor, Clock& clock, SpareRecipe recipe, WorkerRecord record,
          ProgressFile progress, StartedShim shim, UniqueFd control, Signal& changed,
          std::function<void(int)> killed);

    /// Reads what it says until it is released or gone.
    void listen();

    const SpareRecipe& recipe() const { return recipe_; }
    const WorkerRecord& record() const { return worker_->record(); }
    /// nullopt while it still imports.
    const std::optional<SpareReady>& ready() const { return ready_; }
    /// It has ended, or sent a message that can't be parsed.
    bool gone() const { return gone_; }
    const std::string& why_gone() const { return why_gone_; }

    /// Makes it the worker as soon as it has finished its imports. `order` is the worker's own,
    /// `start_message` what it starts with. After an error it is not the worker: call end().
    Task<Result<SpareStarted>> become(const ShimOrder& order, std::string start_message);
    /// After become(): hands over the worker.
    Task<std::unique_ptr<Worker>> release();
    void ask_to_end();
    /// Ends it. Returns when no process of it is left.
    Task<void> end();

  private:
    Task<void> hear();
    Task<Result<void>> send(std::string bytes, const std::array<UniqueFd, 2>& streams);
    void take(std::string_view message);
    void lose(std::string why);

    SpareRecipe recipe_;
    std::unique_ptr<Worker> worker_;
    asio::posix::stream_descriptor control_;
    Signal& changed_;
    std::string received_;
    std::optional<SpareReady> ready_;
    std::optional<Result<SpareStarted>> answer_;
    bool gone_ = false;
    std::string why_gone_;
    bool asked_to_end_ = false;
    TaskGroup tasks_;
};

}  // namespace muster::workers
