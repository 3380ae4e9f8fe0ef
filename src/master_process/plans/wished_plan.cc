#include "master_process/plans/wished_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <string_view>

#include "base/time/rfc3339.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"
#include "kube/values/json_access.h"

namespace muster::master_process {
namespace {

constexpr std::string_view kExcluded = "excludedNodes";
constexpr std::string_view kMoved = "migratePods";
constexpr std::string_view kSpares = "sparePods";
/// The operator's words, which may name what users have written.
constexpr std::size_t kLongestWhy = 512;

const json::object& spec_of(const json::value& plan) {
    static const json::object kNone;
    return plan.is_object() ? kube::child(plan.get_object(), "spec") : kNone;
}

/// The names in a list of pods. Others may write it, too.
std::set<std::string> names_in(const json::object& spec, std::string_view list) {
    std::set<std::string> names;
    const json::value* const pods = spec.if_contains(list);
    if (pods == nullptr || !pods->is_array()) return names;
    for (const json::value& pod : pods->get_array())
        if (const json::object* fields = pod.if_object())
            names.emplace(kube::string_at(*fields, "name"));
    return names;
}

/// No list rather than an empty one.
bool says(const json::object& spec, std::string_view list, const json::value& wanted) {
    const json::value* const found = spec.if_contains(list);
    if (found == nullptr || found->is_null()) return wanted.get_array().empty();
    return kube::equal(*found, wanted);
}

json::array excluded_nodes(const master::Wish& wish) {
    json::array list;
    for (const master::LeftOut& one : wish.left_out) {
        json::object entry{{"node", one.host}};
        if (one.until) entry["until"] = format_rfc3339(*one.until);
        list.push_back(std::move(entry));
    }
    return list;
}

template <class Names>
json::array pods(const Names& names) {
    json::array list;
    for (const std::string& name : names) list.push_back(json::object{{"name", name}});
    return list;
}

std::set<std::string> without(std::set<std::string> names, const std::set<std::string>& others) {
    std::erase_if(names, [&](const std::string& name) { return others.contains(name); });
    return names;
}

bool is_owned_by(const json::object& metadata, std::string_view job) {
    const json::value* const owners = metadata.if_contains("ownerReferences");
    if (owners == nullptr || !owners->is_array()) return false;
    return std::ranges::any_of(owners->get_array(), [&](const json::value& owner) {
        const json::object* const fields = owner.if_object();
        return fields != nullptr && kube::string_at(*fields, "name") == job;
    });
}

}  // namespace

Result<PlanState> state_of(const json::value& plan, const std::string& job) {
    static const json::object kNone;
    const json::object& fields = plan.is_object() ? plan.get_object() : kNone;
    const json::object& metadata = kube::child(fields, "metadata");
    const json::object& spec = spec_of(plan);
    if (kube::string_at(kube::child(metadata, "labels"), "scale-type") != "auto" ||
        kube::string_at(spec, "ownerJob") != job || !is_owned_by(metadata, job))
        return Error(
            Code::kInvalid,
            fmt::format("is not the plan that the operator makes for the master of the job "
                        "{}: delete it, or give yours another name",
                        job));
    const json::object& status = kube::child(fields, "status");
    const std::string_view phase = kube::string_at(status, "phase");
    PlanState state{.generation = kube::int_at(metadata, "generation").value_or(0),
                    .moved = names_in(spec, kMoved)};
    state.asks =
        std::ranges::any_of(spec, [](const auto& entry) { return entry.key() != "ownerJob"; });
    const bool observed = kube::int_at(status, "observedGeneration") == state.generation;
    state.ended = observed && (phase == "Succeeded" || phase == "Failed");
    if (observed && phase == "Failed") {
        state.why_refused = kube::string_at(status, "message").substr(0, kLongestWhy);
        if (state.why_refused.empty()) state.why_refused = "the operator does not say why";
    }
    return state;
}

std::optional<json::value> with_wish(const json::value& plan, const master::Wish& wish,
                                     const std::set<std::string>& asked, bool refused) {
    const json::object& before = spec_of(plan);
    const std::set<std::string> moved = without({wish.moved.begin(), wish.moved.end()}, asked);
    const json::value excluded = excluded_nodes(wish);
    const json::value spares = pods(wish.spares);
    if (!refused && says(before, kExcluded, excluded) && says(before, kSpares, spares) &&
        without(names_in(before, kMoved), asked) == moved)
        return std::nullopt;
    json::object spec{{"ownerJob", kube::string_at(before, "ownerJob")}};
    if (!excluded.get_array().empty()) spec[kExcluded] = excluded;
    if (!moved.empty()) spec[kMoved] = pods(moved);
    if (!spares.get_array().empty()) spec[kSpares] = spares;
    if (kube::equal(spec, before)) return std::nullopt;
    json::value made = kube::copy_of(plan);
    made.as_object()["spec"] = std::move(spec);
    return made;
}

}  // namespace muster::master_process
