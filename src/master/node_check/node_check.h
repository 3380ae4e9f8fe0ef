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
    bool thorough = false;      ///< measures links for longer, and reports each of them
    bool exclude_slow = false;  ///< excludes slow nodes as well as faulty ones
    /// A node is slow if it has less than the median divided by this factor.
    double slow_factor = 2;
    /// A node that has not answered after this time counts as faulty.
    Duration round_limit = std::chrono::seconds(20);
    std::string secret = {};  ///< unique to each master process
};

/// A node that is there when the check begins.
struct CheckedNode {
    std::string incarnation;
    Slot slot = 0;
    std::string address = {};
    int port = 0;  ///< for probes; 0: it takes no part and is not checked
};

/// A link, as measured by the node that connected.
struct CheckedLink {
    std::size_t from = 0;  ///< index into nodes()
    std::size_t to = 0;
    int round = 1;
    std::optional<LinkFigures> figures = {};  ///< nullopt: not received

    bool works() const { return figures && figures->trouble.empty(); }
    bool fails() const { return figures && !figures->trouble.empty(); }
    /// In its slower direction.
    double bytes() const { return std::min(figures->bytes_out, figures->bytes_in); }
};

/// Checks the nodes of a job before its first world: finds faulty and slow nodes.
///
/// - There are two rounds. In the first, nodes are paired by slot; a node left over makes a group
///   of three, whose first node connects to both others. Each node measures its processor and
///   memory, and the node that connects measures the link.
/// - A node without a working link, with a slow link, or without an answer is a suspect. In the
///   second round each suspect is paired with a node that is not one, and keeps its role: a node
///   that connected connects again. If none is left, suspects get other peers than before.
/// - A node is faulty if it says that it can't be used, if it does not answer, or if it had no
///   working link although others could be reached. If no node has a working link, the first one is
///   kept: it can't be known which is at fault.
/// - A node is slow if it is below the median by the factor in its processor, its memory, or the
///   best of its links.
/// - A node that leaves is out of the check, and its measurements blame no other node.
///
/// Pure. Report events, then call advance(); if it returns true, directives have changed.
class NodeCheck {
  public:
    /// A node, and why.
    struct Named {
        std::size_t node = 0;  ///< index into nodes()
        std::string why;
    };

    NodeCheck(NodeCheckOptions options, std::uint64_t epoch)
        : options_(std::move(options)), epoch_(epoch) {}

    /// Call once. `nodes` is sorted by slot.
    void begin(std::vector<CheckedNode> nodes, Instant now);
    /// Ignored if it belongs to another check, comes from a node that takes no part, or is a
    /// repetition.
    void reported(const std::string& incarnation, const CheckResult& result);
    void lost(const std::string& incarnation);
    /// True if directives have changed, or the check is over.
    bool advance(Instant now);
    Instant wake_at() const;

    bool has_begun() const { return round_ > 0; }
    bool is_over() const { return over_; }
    /// Null if the agent has nothing to do.
    const Check* directive_for(const std::string& incarnation) const;

    // ---- once it is over

    const NodeCheckOptions& options() const { return options_; }
    const std::vector<CheckedNode>& nodes() const { return nodes_; }
    const std::vector<CheckedLink>& links() const { return links_; }
    /// Of its processor and memory; null if not received.
    const CheckResult* figures_of(std::size_t node) const;
    /// In bytes per second; nullopt if none works.
    std::optional<double> best_link(std::size_t node) const;
    bool is_there(std::size_t node) const { return !states_[node].gone; }
    const std::vector<Named>& faulty() const { return faulty_; }
    const std::vector<Named>& slow() const { return slow_; }
    /// Broken links between working nodes, and nodes that took no part.
    const std::vector<std::string>& remarks() const { return remarks_; }
    Duration took() const { return took_; }
    /// "node 1 (10.0.0.7)"
    std::string name_of(std::size_t node) const;

  private:
    struct State {
        bool gone = false;
        std::optional<Check> order = {};
        bool reported = false;  ///< as its directive asks
        std::optional<CheckResult> figures = {};
        std::vector<std::size_t> links = {};  ///< indices into links_
        std::string trouble = {};  ///< with the node itself: reported, or that it did not answer

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
