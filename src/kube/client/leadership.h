#pragma once

#include <optional>
#include <string>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/lease_election.h"

namespace muster::kube {

/// A candidate for one Lease: sends what its election decides, watches the Lease, and says when it
/// leads. A failure is logged when it begins, and requests are tried again for as long as the
/// candidate runs.
///
/// The owner stops what only a leader may do when lost() returns, and sends nothing while leads()
/// is false. The client and the clock outlive the group's tasks, as does this. Thread: the loop of
/// the group.
class Leadership {
  public:
    struct Options {
        std::string namespace_;
        std::string name;
        std::string identity;  ///< see LeaseElection
        ElectionTiming timing = {};
    };

    Leadership(Client& client, Clock& clock, TaskGroup& tasks, Options options);

    /// To be called once.
    void start();
    /// Returns when this candidate leads.
    Task<void> won();
    /// Returns when this candidate does not lead, at the latest when its deadline passes.
    Task<void> lost();
    bool leads() const { return election_.leads(clock_.now()); }
    /// Until when it leads if nothing else comes; the past if it does not.
    Instant leads_until() const { return election_.leads_until().value_or(Instant::min()); }
    /// As far as is known; empty if no one leads.
    std::string holder() const { return election_.holder(); }

    /// Stops being a candidate and lets others take over immediately; to be called when everything
    /// that only a leader may do has ended. An error means that others have to wait until the lease
    /// expires.
    Task<Result<void>> resign();

  private:
    Task<void> run();
    Task<void> read();
    Task<void> write(LeaseRecord record);
    Task<Result<Written>> change(const LeaseRecord& record);
    Task<void> follow();
    Task<Result<void>> follow_once();
    Task<void> wait_until(Instant when);
    void failed(std::string_view verb, const Error& error);

    Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    Options options_;
    LeaseElection election_;
    Signal changed_;
    bool running_ = false;
    bool resigning_ = false;
    std::string failure_;        ///< the last one logged; empty once a request succeeded
    std::string watch_failure_;  ///< the same of the watch
};

}  // namespace muster::kube
