#include "master/node_check/node_check_service.h"

#include <utility>

#include "master/node_check/check_table.h"

namespace muster::master {

void NodeCheckService::has_terms(const Terms& terms) {
    if (check_.has_begun()) return;
    wanted_ = terms.check != NodeCheckKind::kNone;
    check_ = NodeCheck({.thorough = terms.check == NodeCheckKind::kLinks,
                        .exclude_slow = terms.exclude_slow,
                        .slow_factor = check_.options().slow_factor,
                        .round_limit = check_.options().round_limit,
                        .secret = check_.options().secret},
                       job_.epoch());
}

void NodeCheckService::reported(const std::string& incarnation, const Report& report) {
    if (report.checked) check_.reported(incarnation, *report.checked);
}

void NodeCheckService::first_world_is_due(const std::vector<Candidate>& nodes, Instant now) {
    std::vector<CheckedNode> checked;
    for (const Candidate& node : nodes)
        checked.push_back({.incarnation = node.hello.incarnation,
                           .slot = node.slot,
                           .address = node.hello.address,
                           .port = node.hello.check_port});
    check_.begin(std::move(checked), now);
}

bool NodeCheckService::advance(Instant now, WallTime wall) {
    if (!check_.advance(now)) return false;
    if (!check_.is_over()) return true;
    for (Notice& line : check_table(check_)) job_.say(std::move(line));
    job_.exclude("the node check", FailureKind::kCheckFailed, unfit(), now, wall);
    return true;
}

std::vector<UnfitNode> NodeCheckService::unfit() const {
    std::vector<UnfitNode> out;
    const auto add = [&](const NodeCheck::Named& named, const std::string& why) {
        const CheckedNode& node = check_.nodes()[named.node];
        out.push_back({.incarnation = node.incarnation, .slot = node.slot, .why = why});
    };
    for (const NodeCheck::Named& named : check_.faulty()) add(named, named.why);
    if (check_.options().exclude_slow)
        for (const NodeCheck::Named& slow : check_.slow()) add(slow, "it is slow: " + slow.why);
    return out;
}

std::string NodeCheckService::why_it_waits() const {
    return check_.has_begun() && !check_.is_over()
               ? "the nodes of the job are checked before they run"
               : "";
}

std::optional<Directive::What> NodeCheckService::directive_for(
    const std::string& incarnation) const {
    const Check* const check = check_.directive_for(incarnation);
    return check == nullptr ? std::nullopt : std::optional<Directive::What>(*check);
}

}  // namespace muster::master
