#pragma once

#include <string>
#include <vector>

#include "master/node_check/node_check.h"
#include "master/service/service.h"

namespace muster::master {

/// Runs the node check for a job: holds the first world until its nodes are checked, and excludes
/// nodes that are faulty, and slow ones if this was asked for. All decisions are in NodeCheck.
///
/// Where the master has the job's terms from its nodes, these say whether there is a check at all.
///
/// One check is one incident, however many nodes it excludes. Nodes that join during the check or
/// later are not checked.
class NodeCheckService final : public Service {
  public:
    NodeCheckService(NodeCheckOptions options, ServiceHost& job)
        : job_(job), check_(std::move(options), job.epoch()) {}

    void has_terms(const Terms& terms) override;
    void reported(const std::string& incarnation, const Report& report) override;
    void lost(const std::string& incarnation) override { check_.lost(incarnation); }
    bool advance(Instant now, WallTime wall) override;
    Instant wake_at() const override { return check_.wake_at(); }
    bool holds_first_world() const override { return wanted_ && !check_.is_over(); }
    void first_world_is_due(const std::vector<Candidate>& nodes, Instant now) override;
    std::string why_it_waits() const override;
    std::optional<Directive::What> directive_for(const std::string& incarnation) const override;

  private:
    std::vector<UnfitNode> unfit() const;

    ServiceHost& job_;
    bool wanted_ = true;
    NodeCheck check_;
};

}  // namespace muster::master
