#include "operator/internal/execution/node_affinity.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>

namespace muster::operators {
namespace {

constexpr std::string_view kHostName = "kubernetes.io/hostname";

json::object elsewhere(const std::vector<std::string>& nodes) {
    return {{"key", kHostName},
            {"operator", "NotIn"},
            {"values", json::array(nodes.begin(), nodes.end())}};
}

/// The object at `key`, made if there is none; null if something else is there.
json::object* object_in(json::object& parent, std::string_view key) {
    json::value& value = parent[key];
    return value.is_null() ? &value.emplace_object() : value.if_object();
}

bool has_any(const json::object& term, std::string_view key) {
    const json::value* const found = term.if_contains(key);
    return found != nullptr && found->is_array() && !found->get_array().empty();
}

/// An empty term matches no node, and must not match others for this.
void narrow(json::object& term, const json::object& condition) {
    if (!has_any(term, "matchExpressions") && !has_any(term, "matchFields")) return;
    json::value& expressions = term["matchExpressions"];
    if (expressions.is_null()) expressions.emplace_array();
    if (json::array* all = expressions.if_array()) all->push_back(condition);
}

}  // namespace

void keep_from_nodes(kube::PodSpec& pod, const std::vector<std::string>& nodes) {
    if (nodes.empty()) return;
    json::object* at = object_in(pod.rest, "affinity");
    if (at != nullptr) at = object_in(*at, "nodeAffinity");
    if (at != nullptr) at = object_in(*at, "requiredDuringSchedulingIgnoredDuringExecution");
    if (at == nullptr) return;
    json::value& written = (*at)["nodeSelectorTerms"];
    if (written.is_null()) written.emplace_array();
    json::array* const terms = written.if_array();
    if (terms == nullptr) return;
    const json::object condition = elsewhere(nodes);
    if (terms->empty())
        terms->push_back(json::object{{"matchExpressions", json::array{condition}}});
    else
        for (json::value& term : *terms)
            if (json::object* fields = term.if_object()) narrow(*fields, condition);
}

}  // namespace muster::operators
