#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "master/budgets.h"
#include "master/world.h"

namespace muster::master {

/// What was seen.
enum class Sign : std::uint8_t {
    kWorkerExited,     ///< with a code other than 0, or by a signal
    kNotStarted,       ///< the workers of a node could not be started
    kOutOfMemory,      ///< a worker was killed for the memory that it used
    kConnectionBroke,  ///< of an agent, which has not come back
    kNodeSilent,       ///< longer than the heartbeat limit
    kNodeEvicted,      ///< the platform takes the node away
    kCheckFailed,      ///< the node check names it
};

struct Evidence {
    Sign sign = Sign::kWorkerExited;
    Generation generation = {};  ///< in which it happened
    int restarts = 0;            ///< the attempt, as World::restarts: a generation may have several
    Slot slot = 0;
    std::string node = {};              ///< for people: its address
    std::optional<int> rank = {};       ///< of a worker
    std::optional<int> exit_code = {};  ///< without one: a signal
    int signal = 0;
    /// The last line of the error file or of the traceback: "ValueError: no such column".
    std::string error = {};
    WallTime when = {};  ///< by the node's own clock; the error file's where there is one

    friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// What was charged, as a master's records keep it: an attempt is charged once, whoever decides.
struct Incident {
    Charge charge = Charge::kNothing;
    WallTime when = {};
    Generation generation = {};
    int restarts = 0;
    std::string error = {};

    friend bool operator==(const Incident&, const Incident&) = default;
};

/// What is done.
enum class Action : std::uint8_t {
    kRestart,  ///< all workers begin anew, on the same nodes
    kReplace,  ///< the node goes, and what can takes its place
    kLeave,    ///< nothing more: the world goes on with whoever is there
    kFail,     ///< the job ends
};

struct PolicyOptions {
    /// Exit codes with which a program says that another try is of no use, or that the node is bad.
    std::set<int> final_codes = {};
    std::set<int> bad_node_codes = {};
    /// Texts in errors by which a bad node is known.
    std::vector<std::string> bad_node_errors = {};
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
    bool (*matches)(const Evidence&, const Situation&, const PolicyOptions&);
    Action action;
    Charge charge;
    std::string_view why;  ///< what a job that ends by it is told
};

/// All that decides what follows a failure; the documentation's table is made of it.
std::span<const Rule> failure_rules();

struct Decision {
    Action action = Action::kRestart;
    const Rule* rule = nullptr;            ///< never null
    std::string text;                      ///< what happened and what is done, for people
    std::optional<Incident> charged = {};  ///< now; nothing if it was before, or costs nothing
};

/// From evidence to an action, with budgets. The first evidence of an attempt makes an incident;
/// all that follows in it are victims, and change nothing. Pure.
class FailurePolicy {
  public:
    FailurePolicy(PolicyOptions options, Budgets budgets)
        : options_(std::move(options)), budgets_(std::move(budgets)) {}

    /// The program shows its progress (src/agent's hook, or muster.step()). Without that nobody can
    /// say that there was none, and no error counts as repeated.
    void progress_is_seen() { progress_is_seen_ = true; }
    /// A step was made in this attempt that none had made before.
    void stepped(Generation generation, int restarts = 0) { stepped_ = {generation, restarts}; }
    /// An earlier master has charged it. It may not have acted on it: that is decided again, and
    /// not charged. In their order, before anything else.
    void remember(const Incident& incident);
    /// Nothing: it belongs to an incident that was decided, or to a generation that has passed.
    std::optional<Decision> decide(const Evidence& evidence, Generation current, WallTime now);

    const Budgets& budgets() const { return budgets_; }
    /// The incident that was decided last.
    const std::optional<Evidence>& last() const { return last_; }

  private:
    PolicyOptions options_;
    Budgets budgets_;
    bool progress_is_seen_ = false;
    std::optional<std::pair<Generation, int>> stepped_;
    std::optional<Evidence> last_;
    std::optional<Incident> remembered_;  ///< the newest
};

/// "worker 3 on 10.0.0.7 was killed by SIGSEGV (exit code 139): ValueError: ..."
std::string describe(const Evidence& evidence);

}  // namespace muster::master
