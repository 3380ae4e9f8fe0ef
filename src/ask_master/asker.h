#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ask_master/lines.h"
#include "ask_master/membership.h"
#include "base/async/async.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "rpc/client.h"

namespace muster::ask_master {

/// The connection of one program to the master of its job: attends for it, and passes its questions
/// on. What a master keeps in its memory alone (versions, points that were joined) is told to the next
/// one; who waits at a barrier or a point waits there, too. Keys are lost with their master, which is
/// said once ("gone"): the questions after that are about the keys of the next one.
///
/// Clock, rng and group outlive it; stop the group before destroying it. Thread: the loop of the group.
class Asker {
  public:
    /// What it tells, whether asked or not.
    struct Tell {
        std::function<void(std::string line)> line;  ///< of lines.h
        /// Why the master can't be reached, or refuses this program; the same again while it is so.
        std::function<void(std::string text)> trouble;
    };

    Asker(Clock& clock, Rng& rng, TaskGroup& tasks, Membership membership,
          rpc::Client::Connect connect, Tell tell);

    void start();
    /// A line of the program. Its answer may come much later, and after others.
    void take(std::string line);
    /// Returns the reason why this program is not let in, if that is so.
    Task<Error> refused();

  private:
    Task<void> attend();
    Task<Result<void>> one_attendance();
    Task<void> watch();
    Task<void> answer(Question question);
    Task<Result<job_protocol::KvAnswer>> meet(Question::Key what, Instant until);
    Task<Result<job_protocol::KvAnswer>> ask_keys(Question::Key what, Instant until);
    Task<Result<job_protocol::KvAnswer>> send(job_protocol::KvSpace space, Question::Key what,
                                              Instant until);
    Task<Result<job_protocol::VersionAnswer>> version(job_protocol::VersionRequest request,
                                                      Instant until);
    Task<Result<std::uint64_t>> epoch_other_than(std::optional<std::uint64_t> known, Instant until);
    Task<void> join_again();
    void note(const job_protocol::VersionRequest& told);
    Error late() const;

    Clock& clock_;
    TaskGroup& tasks_;
    Membership membership_;
    Tell tell_;
    rpc::Client client_;
    std::optional<std::uint64_t> epoch_;  ///< of the master at which this program attends
    std::optional<std::uint64_t> keys_;   ///< of the master whose keys it uses
    std::int64_t version_ = 0;            ///< of the newest cluster
    Signal attended_;
    std::set<std::string> joined_;
    std::size_t open_ = 0;  ///< questions
};

}  // namespace muster::ask_master
