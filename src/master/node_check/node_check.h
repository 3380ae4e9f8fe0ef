#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "master/service/vocabulary.h"

namespace muster::master {

struct NodeCheckOptions {
    bool thorough = false;      ///< links are measured for longer, and each is told of
    bool exclude_slow = false;  ///< a slow node is left out as a faulty one is
    /// Slow is what has less than the median of all by this factor.
    double slow_factor = 2;
    /// After which who has said nothing is taken for faulty.
    Duration round_limit = std::chrono::seconds(20);
    std::string secret = {};  ///< another for each life of a master
};

/// A node that is there when the check begins.
struct CheckedNode {
    std::string incarnation;
    Slot slot = 0;
    std::string address = {};
    int port = 0;  ///< for probes; 0: it takes no part, and is let through
};

/// A link as the one who connected measured it.
struct CheckedLink {
    std::size_t from = 0;  ///< in nodes()
    std::size_t to = 0;
    int round = 1;
    std::optional<LinkFigures> figures = {};  ///< nothing: they did not come

    bool works() const { return figures && figures->trouble.empty(); }
    bool fails() const { return figures && !figures->trouble.empty(); }
    /// In its slower direction.
    double bytes() const { return std::min(figures->bytes_out, figures->bytes_in); }
};

/// The check of the nodes of a job, before its first world: finds the node that is faulty, or slow.
///
/// - Two rounds. In the first nodes stand in pairs, by slot; who is left over makes a group of
///   three, whose first one connects to both others. Each node measures its processor and memory,
///   and who connects measures the link.
/// - Whoever has no link that works, has a slow one, or said nothing is a suspect. In the second
///   round each suspect meets a node that is none, in the role that it had: who connected connects.
///   Without one suspects meet others than before.
/// - Faulty is who says that it can't be used, who says nothing, and who had no link that works
///   though others could be reached. Where nobody has one the first node is kept: nobody can tell
///   whose fault it is.
/// - Slow is who is below the median by the factor: in its processor, its memory, or the best of
///   its links.
/// - Who goes away is out, and accuses nobody.
///
/// Pure. Events, then advance(); orders change when that says so.
class NodeCheck {
  public:
    /// Who, and why.
    struct Named {
        std::size_t node = 0;  ///< in nodes()
        std::string why;
    };

    NodeCheck(NodeCheckOptions options, std::uint64_t epoch)
        : options_(std::move(options)), epoch_(epoch) {}

    /// Once. Sorted by slot.
    void begin(std::vector<CheckedNode> nodes, Instant now);
    /// Of another check, of who takes no part, or a second time: nothing.
    void reported(const std::string& incarnation, const CheckResult& result);
    void lost(const std::string& incarnation);
    /// True: other orders hold, or it is over.
    bool advance(Instant now);
    Instant wake_at() const;

    bool has_begun() const { return round_ > 0; }
    bool is_over() const { return over_; }
    /// Null: it has nothing to do.
    const Check* directive_for(const std::string& incarnation) const;

    // ---- when it is over

    const NodeCheckOptions& options() const { return options_; }
    const std::vector<CheckedNode>& nodes() const { return nodes_; }
    const std::vector<CheckedLink>& links() const { return links_; }
    /// Of its processor and memory; null: they did not come.
    const CheckResult* figures_of(std::size_t node) const;
    /// In bytes a second; nothing: none works.
    std::optional<double> best_link(std::size_t node) const;
    bool is_there(std::size_t node) const { return !states_[node].gone; }
    const std::vector<Named>& faulty() const { return faulty_; }
    const std::vector<Named>& slow() const { return slow_; }
    /// Links that do not work between nodes that do, and nodes that took no part.
    const std::vector<std::string>& remarks() const { return remarks_; }
    Duration took() const { return took_; }
    /// "node 1 (10.0.0.7)"
    std::string name_of(std::size_t node) const;

  private:
    struct State {
        bool gone = false;
        std::optional<Check> order = {};
        bool reported = false;  ///< what its order asks for
        std::optional<CheckResult> figures = {};
        std::vector<std::size_t> links = {};  ///< in links_
        std::string trouble = {};  ///< of the node itself, as it says, or since it says nothing

        bool is_usable() const { return trouble.empty(); }
        bool silent() const { return order && !reported; }
        bool is_broken() const { return reported && !trouble.empty(); }
    };

    bool takes_part(std::size_t node) const { return nodes_[node].port != 0 && is_there(node); }
    Check& order(std::size_t node, int round);
    void connect(std::size_t from, std::size_t to, int round);
    void first_round();
    bool second_round();
    bool have_met(std::size_t one, std::size_t other) const;
    double slow_link() const;
    bool is_suspect(std::size_t node, double slow_link) const;
    void judge();
    const CheckedLink* accuser_of(std::size_t node) const;
    void judge_speed(const std::vector<std::size_t>& fine);
    std::string about(const CheckedLink& link) const;

    NodeCheckOptions options_;
    std::uint64_t epoch_;
    int round_ = 0;
    bool over_ = false;
    Instant began_;
    Instant deadline_;
    Duration took_ = {};
    std::vector<CheckedNode> nodes_;
    std::vector<State> states_;
    std::map<std::string, std::size_t> by_incarnation_;
    std::vector<CheckedLink> links_;
    std::vector<Named> faulty_;
    std::vector<Named> slow_;
    std::vector<std::string> remarks_;
};

}  // namespace muster::master
