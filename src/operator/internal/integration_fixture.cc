#include "operator/internal/integration_fixture.h"

#include <boost/json/parse.hpp>

namespace muster::operators {
namespace {

/// "podgroups" of a collection's or an object's path.
std::string plural_of(const std::string& path) {
    for (const char* plural : {"podgroups", "horizontalpodautoscalers", "priorityclasses"})
        if (path.find(plural) != std::string::npos) return plural;
    return "";
}

}  // namespace

IntegrationWorld::IntegrationWorld(std::string gang_scheduler, std::uint64_t seed)
    : w(seed, {.namespace_ = {},
               .gang_scheduler_name = std::move(gang_scheduler),
               .platform = {.node_program = {}, .cluster_domain = {}, .cluster = true}}) {
    w.transport.watch_lag = [this](const kube::Request& request) {
        watched.insert(plural_of(request.path));
        return Duration{};
    };
    w.transport.before_write = [this](const kube::Request& request) {
        const std::string plural = plural_of(request.path);
        if (plural.empty()) return;
        const char* verb = request.method == kube::Method::kPost     ? "POST "
                           : request.method == kube::Method::kDelete ? "DELETE "
                                                                     : "PUT ";
        writes.push_back(verb + plural);
    };
}

void IntegrationWorld::define(IntegrationType type) {
    const kube::ResourceType& resource = resource_of(type);
    json::object schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    json::object version{{"name", resource.version},
                         {"served", true},
                         {"storage", true},
                         {"subresources", {{"status", json::object()}}},
                         {"schema", {{"openAPIV3Schema", std::move(schema)}}}};
    auto defined = w.wait(w.client.create(
        kube::types::kCustomResourceDefinitions, "",
        json::object{{"apiVersion", "apiextensions.k8s.io/v1"},
                     {"kind", "CustomResourceDefinition"},
                     {"metadata", {{"name", resource.plural + "." + resource.group}}},
                     {"spec",
                      {{"group", resource.group},
                       {"scope", "Namespaced"},
                       {"names",
                        {{"plural", resource.plural},
                         {"singular", "podgroup"},
                         {"kind", resource.kind},
                         {"listKind", resource.kind + "List"}}},
                       {"versions", json::array{std::move(version)}}}}}));
    ASSERT_TRUE(defined.has_value()) << defined.error().message();
    w.settle();
}

void IntegrationWorld::create(json::object job) {
    auto created = w.wait(w.client.create(pytorch().resource, "default", std::move(job)));
    ASSERT_TRUE(created.has_value()) << created.error().message();
    w.settle();
}

std::optional<json::value> IntegrationWorld::object(IntegrationType type) {
    return w.object(resource_of(type), "demo");
}

json::value IntegrationWorld::spec(IntegrationType type) {
    auto found = object(type);
    return found ? found->at("spec") : json::value();
}

void IntegrationWorld::edit(IntegrationType type,
                            const std::function<void(json::object& object)>& change,
                            const std::string& subresource) {
    auto found = object(type);
    ASSERT_TRUE(found.has_value());
    change(found->as_object());
    auto updated =
        w.wait(w.client.update(resource_of(type), "default", "demo", *found, subresource));
    ASSERT_TRUE(updated.has_value()) << updated.error().message();
    w.settle();
}

void IntegrationWorld::set_group_phase(const std::string& phase) {
    edit(
        IntegrationType::kVolcano,
        [&](json::object& group) { group["status"] = json::object{{"phase", phase}}; }, "status");
}

std::string IntegrationWorld::events() {
    std::string all;
    for (const std::string& event : w.events("demo")) all += event + "\n";
    return all;
}

void IntegrationWorld::finish() {
    w.set_phase("demo-master-0", "Succeeded", 0);
    w.settle();
    EXPECT_TRUE(w.status("demo").is("Succeeded"));
}

}  // namespace muster::operators
