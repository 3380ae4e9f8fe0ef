#include "job_protocol/protocol.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <tuple>
#include <variant>

#include "job_protocol/internal/field_lists.h"

namespace muster::job_protocol {
namespace {

/// Each is told to group rank 0, for all nodes.
constexpr std::size_t kMostAddresses = 64;

/// Of an object in Kubernetes.
constexpr std::size_t kLongestName = 253;

/// Of a job, and of codes and texts of its policy.
constexpr int kMostNodes = 100'000;
constexpr std::size_t kMostInPolicy = 1'000;

Error bad(std::string_view what) { return Error(Code::kBadRequest, std::string(what)); }

Result<void> check(const World& world) {
    if (world.members.empty() || world.nodes < 1 || std::ssize(world.members) > world.nodes)
        return bad("a world without members");
    for (const Member& member : world.members)
        if (member.slot < 0 || member.local_size < 1 || member.first_rank < 0 ||
            member.group_rank < 0 || member.group_rank >= world.nodes)
            return bad("a world with a member that can't be");
    if (world.own().group_rank != world.own_rank) return bad("a world without whom it is told to");
    return {};
}

Result<void> check(const Report& report) {
    if (report.holds) return check(*report.holds);
    return {};
}

Result<void> check(const Terms& terms) {
    const auto [least, most, unit] = std::tuple(terms.min_nodes, terms.max_nodes, terms.node_unit);
    if (least < 1 || most < least || most > kMostNodes)
        return bad(fmt::format("terms of a job with {} to {} nodes", least, most));
    if (unit < 1 || unit > most || (least + unit - 1) / unit * unit > most)
        return bad(
            fmt::format("terms of a job with {} to {} nodes, a multiple of {}", least, most, unit));
    if (terms.silence <= Duration::zero()) return bad("terms with a heartbeat limit of nothing");
    for (const BudgetTerm& budget : terms.budgets)
        if (budget.incidents < 0) return bad("terms with a budget below nothing");
    const PolicyOptions& policy = terms.policy;
    if (policy.give_up_after < 0) return bad("terms that give up after less than no failure");
    if (terms.budgets.size() > kCharges || policy.final_codes.size() > kMostInPolicy ||
        policy.bad_node_codes.size() > kMostInPolicy ||
        policy.bad_node_errors.size() > kMostInPolicy)
        return bad("terms that are too long");
    return {};
}

Result<void> check(const Hello& hello) {
    if (hello.incarnation.empty()) return bad("an agent without an incarnation");
    if (hello.local_size < 1) return bad("a node has at least one worker");
    if (hello.addresses.size() > kMostAddresses) return bad("a node with too many addresses");
    if (hello.slot && *hello.slot < 0)
        return bad(fmt::format("slot {}: slots count from 0", *hello.slot));
    if (hello.pod.size() > kLongestName || hello.host.size() > kLongestName)
        return bad("a node with the name of a pod or of its host that is too long");
    if (hello.terms) TRY_VOID(check(*hello.terms));
    return check(hello.report);
}

Result<void> check(const JobRecord& record) {
    if (record.epoch == 0) return bad("a job's record without an epoch");
    if (record.terms) return check(*record.terms);
    return {};
}

Result<void> check(const Directive& directive) {
    if (directive.record) {
        TRY_VOID(check(*directive.record));
    }
    if (const auto* run = std::get_if<Run>(&directive.what)) return check(run->world);
    return {};
}

template <class T>
Result<T> checked(const WireOf<T>& wire) {
    T value = from_wire_form<T>(wire);
    TRY_VOID(check(value));
    return value;
}

}  // namespace

job::Join to_wire(const Hello& hello) { return to_wire_form(hello); }
Result<Hello> from_wire(const job::Join& join) { return checked<Hello>(join); }

job::Report to_wire(const Report& report) { return to_wire_form(report); }
Result<Report> from_wire(const job::Report& report) { return checked<Report>(report); }

job::Directive to_wire(const Directive& directive) { return to_wire_form(directive); }
Result<Directive> from_wire(const job::Directive& directive) {
    if (directive.what_case() == job::Directive::WHAT_NOT_SET)
        return bad("an order that this version does not know");
    return checked<Directive>(directive);
}

job::JobRecord to_wire(const JobRecord& record) { return to_wire_form(record); }
Result<JobRecord> from_wire(const job::JobRecord& record) { return checked<JobRecord>(record); }

job::MasterClaim to_wire(const MasterClaim& claim) { return to_wire_form(claim); }
MasterClaim from_wire(const job::MasterClaim& claim) { return from_wire_form<MasterClaim>(claim); }

}  // namespace muster::job_protocol
