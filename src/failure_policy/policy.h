#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "failure_policy/budgets.h"
#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"

namespace muster::failure_policy {

/// What is done.
enum class Action : std::uint8_t {
    kRestart,  ///< all workers begin anew, on the same nodes
    kReplace,  ///< the node goes, and what can takes its place
    kLeave,    ///< nothing more: the world goes on with whoever is there
    kFail,     ///< the job ends
};

/// What there is to go by beside the evidence.
struct Situation {
    bool stepped = false;   ///< in this generation the program has made progress
    bool repeated = false;  ///< the incident before had the same error, with no progress since
};

/// One row of the table. The first that matches decides.
struct Rule {
    std::string_view name;
    std::string_view when;  ///< for people
    bool (*matches)(const job_protocol::FailureReport&, const Situation&,
                    const job_protocol::PolicyOptions&);
    Action action;
    job_protocol::Charge charge;
    std::string_view why;  ///< what a job that ends by it is told
};

/// All that decides what follows a failure; the documentation's table is made of it.
std::span<const Rule> failure_rules();

struct Decision {
    Action action = Action::kRestart;
    const Rule* rule = nullptr;  ///< never null
    std::string text;            ///< what happened and what is done, for people
    std::optional<job_protocol::Incident> charged =
        {};  ///< now; nothing if it was before, or costs nothing
};

/// From evidence to an action, with budgets. The first evidence of an attempt makes an incident;
/// all that follows in it are victims, and change nothing. Pure.
class FailurePolicy {
  public:
    FailurePolicy(job_protocol::PolicyOptions options, Budgets budgets)
        : options_(std::move(options)), budgets_(std::move(budgets)) {}

    /// The program shows its progress (src/agent's hook, or muster.step()). Without that nobody can
    /// say that there was none, and no error counts as repeated.
    void progress_is_seen() { progress_is_seen_ = true; }
    /// A step was made in this attempt that none had made before.
    void stepped(job_protocol::Generation generation, int restarts = 0) {
        stepped_ = {generation, restarts};
    }
    /// An earlier master has charged it. It may not have acted on it: that is decided again, and
    /// not charged. In their order, before anything else.
    void remember(const job_protocol::Incident& incident);
    /// Nothing: it belongs to an incident that was decided, or to a generation that has passed.
    std::optional<Decision> decide(const job_protocol::FailureReport& evidence,
                                   job_protocol::Generation current, WallTime now);

    const Budgets& budgets() const { return budgets_; }
    /// The incident that was decided last.
    const std::optional<job_protocol::FailureReport>& last() const { return last_; }

  private:
    job_protocol::PolicyOptions options_;
    Budgets budgets_;
    bool progress_is_seen_ = false;
    std::optional<std::pair<job_protocol::Generation, int>> stepped_;
    std::optional<job_protocol::FailureReport> last_;
    std::optional<job_protocol::Incident> remembered_;  ///< the newest
};

}  // namespace muster::failure_policy
