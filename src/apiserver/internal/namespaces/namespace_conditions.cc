#include "apiserver/internal/namespaces/namespace_conditions.h"

#include <fmt/format.h>

#include <string_view>

#include "apiserver/internal/controllers/controller.h"
#include "apiserver/objects/conditions.h"

namespace muster::apiserver {
namespace {

std::string listed(const std::map<std::string, std::size_t>& counts, std::string_view verb) {
    std::string text;
    for (const auto& [name, count] : counts)
        text += fmt::format("{}{} {} {} resource instances", text.empty() ? "" : ", ", name, verb,
                            count);
    return text;
}

}  // namespace

void set_conditions(json::object& namespace_, const NamespaceContent& left, WallTime now) {
    const bool undiscovered = !left.undiscovered.empty();
    const bool failed = !left.failure.empty();
    const bool remaining = !left.instances.empty();
    const bool finalizers = !left.by_finalizer.empty();
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
        set_condition(namespace_, each, now);
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
