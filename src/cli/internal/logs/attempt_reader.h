#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/internal/logs/attempts.h"
#include "cli/internal/logs/log_session.h"
#include "cli/internal/logs/log_sources.h"
#include "runtime/retained_logs.h"

namespace muster::cli {

/// Begins to read one attempt of each replica, which may be that of an earlier pod. Thread: the loop
/// of the session.
class AttemptReader {
  public:
    /// `pods`: the newest of each replica; of those in `gone` only the logs are left. `on_disk`: all
    /// pods with retained logs, of any job. The first three outlive this.
    /// `client`: for the pods that exist; null if all of them are in `gone`.
    AttemptReader(LogSession& session, kube::Client* client, const std::vector<LogPod>& pods,
                  const std::vector<runtime::RetainedPod>& gone,
                  std::vector<runtime::RetainedPod> on_disk)
        : session_(session),
          client_(client),
          pods_(pods),
          gone_(gone),
          on_disk_(std::move(on_disk)) {}

    /// Attempt `number` of the container, or without it the one before the present one. Nothing
    /// happens if it never began.
    void read(const LogSource& source, std::optional<int> number);

    bool any() const { return any_; }
    /// Attempts whose logs are not there any more.
    const std::vector<Error>& missing() const { return missing_; }
    /// The most attempts that a container has had.
    int most() const { return most_; }

  private:
    void read_chosen(const LogSource& source, const ChosenAttempt& chosen,
                     const std::vector<runtime::RetainedPod>& kept);

    LogSession& session_;
    kube::Client* client_;
    const std::vector<LogPod>& pods_;
    const std::vector<runtime::RetainedPod>& gone_;
    std::vector<runtime::RetainedPod> on_disk_;
    bool any_ = false;
    std::vector<Error> missing_;
    int most_ = 0;
};

}  // namespace muster::cli
