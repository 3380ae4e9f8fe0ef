#include "apiserver/internal/namespaces/namespace_conditions.h"

#include <fmt/format.h>

#include <string_view>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/time.h"

namespace muster::apiserver {
namespace {

struct Condition {
    std::string_view type;
    bool is_true = false;
    std::string_view reason;
    std::string message;
};

std::string listed(const std::map<std::string, std::size_t>& counts, std::string_view verb) {
    std::string text;
    for (const auto& [name, count] : counts)
        text += fmt::format("{}{} {} {} resource instances", text.empty() ? "" : ", ", name, verb,
                            count);
    return text;
}

void set_condition(json::array& conditions, const Condition& is, const std::string& now) {
    json::object* condition = nullptr;
    for (json::value& each : conditions)
        if (json::object* fields = each.if_object();
            fields != nullptr && string_at(*fields, "type") == is.type)
            condition = fields;
    if (condition == nullptr)
        condition = &conditions.emplace_back(json::object{{"type", is.type}}).get_object();
    const std::string_view status = is.is_true ? "True" : "False";
    if (string_at(*condition, "status") != status) {
        (*condition)["status"] = status;
        (*condition)["lastTransitionTime"] = now;
    }
    (*condition)["reason"] = is.reason;
    (*condition)["message"] = is.message;
}

}  // namespace

void set_conditions(json::object& namespace_, const NamespaceContent& left, WallTime now) {
    json::value& conditions = ensure_object(namespace_, "status")["conditions"];
    if (!conditions.is_array()) conditions.emplace_array();
    const bool undiscovered = !left.undiscovered.empty();
    const bool failed = !left.failure.empty();
    const bool remaining = !left.instances.empty();
    const bool finalizers = !left.by_finalizer.empty();
    const std::string time = kube::format_time(now);
    for (const Condition& each : std::initializer_list<Condition>{
             {"NamespaceDeletionDiscoveryFailure", undiscovered,
              undiscovered ? "DiscoveryFailed" : "ResourcesDiscovered",
              undiscovered ? "Discovery failed for some groups: " + left.undiscovered
                           : "All resources successfully discovered"},
             {"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
              "All legacy kube types successfully parsed"},
             {"NamespaceDeletionContentFailure", failed,
              failed ? "ContentDeletionFailed" : "ContentDeleted",
              failed ? "Failed to delete all resource types: " + left.failure
                     : "All content successfully deleted, may be waiting on finalization"},
             {"NamespaceContentRemaining", remaining,
              remaining ? "SomeResourcesRemain" : "ContentRemoved",
              remaining ? "Some resources are remaining: " + listed(left.instances, "has")
                        : "All content successfully removed"},
             {"NamespaceFinalizersRemaining", finalizers,
              finalizers ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
              finalizers ? "Some content in the namespace has finalizers remaining: " +
                               listed(left.by_finalizer, "in")
                         : "All content-preserving finalizers finished"}})
        set_condition(conditions.get_array(), each, time);
}

Task<StatusResult<void>> report_content(ServerState& state, Writer& writer, std::string namespace_,
                                        NamespaceContent left) {
    const DefPtr def = state.registry.find("v1", "namespaces");
    Writer::Change change = [def, left = std::move(left),
                             now = state.clock.wall_now()](const json::value& current) {
        kube::Document next(current);
        set_conditions(next.object(), left, now);
        return StatusResult<NextState>(settle(*def, current, std::move(next)));
    };
    co_return done_unless(
        co_await writer.rewrite(def, "", std::move(namespace_), std::move(change)),
        {Code::kNotFound});
}

}  // namespace muster::apiserver
