#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "cli/internal/run/console.h"
#include "kube/client/client.h"

namespace muster::cli {

/// Removes the jobs of an earlier try of a step, and waits until they and their pods are gone: the
/// step that is tried again makes a job of the same name. Thread: one loop; its arguments outlive it.
class Replacement {
  public:
    enum class End {
        kDone,
        kTooLate,  ///< they are still there
        kStopped,
    };

    /// `labels`: of the jobs, all of them in one namespace.
    Replacement(asio::any_io_executor executor, Clock& clock, Rng& rng, kube::Client& client,
                Console& console, kube::ResourceType type, std::string ns, std::string labels);

    /// Takes as long as the server is away, or the earlier jobs are there, but not longer than
    /// `limit`. An error: the server refuses it, or is away.
    Task<Result<End>> run(Duration limit);
    /// Ends run() soon.
    void stop();

  private:
    struct Earlier {
        std::string name;
        std::string uid;
    };

    Task<Result<std::vector<Earlier>>> find(Instant deadline);
    Task<Result<void>> remove(std::vector<Earlier> jobs);
    Task<Result<End>> wait_until_gone(std::vector<Earlier> jobs, Instant deadline);
    Task<void> wake_at(Instant when);

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    kube::Client& client_;
    Console& console_;
    const kube::ResourceType type_;
    const std::string namespace_;
    const std::string labels_;
    Signal changed_;
    bool stopped_ = false;
};

}  // namespace muster::cli
