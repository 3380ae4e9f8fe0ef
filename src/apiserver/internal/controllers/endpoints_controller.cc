#include "apiserver/internal/controllers/endpoints_controller.h"

#include "apiserver/internal/webhooks/service_route.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/watching/visit_in_turns.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

const kube::ResourceType kEndpoints{"", "v1", "endpoints", "Endpoints"};
const kube::ResourceType kSlices{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"};
constexpr const char* kSlicesResource = "endpointslices.discovery.k8s.io";

/// The label by which a service is found: the last of its selector in the order of the letters.
std::string label_of(const json::object& service) {
    std::string label;
    for (const auto& entry : child(child(service, "spec"), "selector"))
        if (const json::string* value = entry.value().if_string())
            label = std::max(label, fmt::format("{}={}", std::string_view(entry.key()),
                                                std::string_view(*value)));
    return label;
}

/// The service whose slice it is, if this controller made it.
std::string service_of(const json::object& slice) {
    const json::object& labels = child(metadata_of(slice), "labels");
    if (string_at(labels, "endpointslice.kubernetes.io/managed-by") !=
        "endpointslice-controller.k8s.io")
        return {};
    return std::string(string_at(labels, "kubernetes.io/service-name"));
}

/// Empty if it is not there.
json::array copied_array(const json::object& slice, std::string_view field) {
    const json::array* found = array_at(slice, field);
    return found == nullptr ? json::array() : kube::copy_of(*found);
}

}  // namespace

EndpointsController::EndpointsController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("endpoints", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

void EndpointsController::recover(const StartingObject& object) {
    const NamespacedName key{object.key.namespace_, object.key.name};
    if (object.key.resource == "services") put_service(key, object.cached.tree());
    if (object.key.resource != kSlicesResource) return;
    const std::string service = service_of(object.cached.tree()->get_object());
    if (!service.empty()) slices_[{key.namespace_, service}].insert(key.name);
}

void EndpointsController::observe(const store::StoreChange& change, const kube::ObjectPtr& before) {
    const NamespacedName key{change.key.namespace_, change.key.name};
    if (change.key.resource == "pods") {
        observe_pod(change, before);
    } else if (change.key.resource == "services") {
        if (change.object != nullptr) {
            put_service(key, change.object);
        } else {
            remove_service(key);
            queue_.add(key);
        }
    } else if (change.key.resource == "endpoints") {
        if (services_.contains(key)) queue_.add(key);
    } else if (change.key.resource == kSlicesResource) {
        for (const kube::ObjectPtr& state : {before, change.object}) {
            if (state == nullptr) continue;
            const NamespacedName service{key.namespace_, service_of(state->get_object())};
            if (service.name.empty()) continue;
            if (state == change.object)
                slices_[service].insert(key.name);
            else if (const auto all = slices_.find(service); all != slices_.end()) {
                all->second.erase(key.name);
                if (all->second.empty()) slices_.erase(all);
            }
            if (services_.contains(service)) queue_.add(service);
        }
    }
}

void EndpointsController::remove_service(const NamespacedName& key) {
    const auto service = services_.find(key);
    if (service == services_.end()) return;
    const Label label{key.namespace_, label_of(service->second.object->get_object())};
    if (const auto names = by_label_.find(label); names != by_label_.end()) {
        names->second.erase(key.name);
        if (names->second.empty()) by_label_.erase(names);
    }
    services_.erase(service);
}

void EndpointsController::put_service(const NamespacedName& key, kube::ObjectPtr service) {
    const json::object& object = service->get_object();
    const auto known = services_.find(key);
    if (known != services_.end()) {
        // Its own status, or what does not concern its endpoints.
        const json::object& before = known->second.object->get_object();
        if (kube::equal(child(before, "spec"), child(object, "spec")) &&
            kube::equal(child(metadata_of(before), "labels"), child(metadata_of(object), "labels")))
            return;
        remove_service(key);
    }
    if (!has_endpoints(object)) return;
    by_label_[{key.namespace_, label_of(object)}].insert(key.name);
    Service& made = services_[key];
    made.selector = selector_for_pods(object);
    made.object = std::move(service);
    queue_.add(key);
}

Task<void> EndpointsController::find_pods(std::string namespace_) {
    std::map<std::string, kube::ObjectPtr> found;
    for (auto service = services_.lower_bound({namespace_, ""});
         service != services_.end() && service->first.namespace_ == namespace_; ++service)
        if (!service->second.has_pods) found.emplace(service->first.name, service->second.object);
    co_await visit_in_turns(
        state_.cache, "pods", namespace_, [&](const auto& key, const auto& pod) {
            std::set<std::string> concerned;
            each_label(pod.object->text(), [&](std::string_view label, std::string_view value) {
                add_services_for(namespace_, label, value, concerned);
            });
            for (const std::string& name : concerned)
                if (found.contains(name))
                    put_pod({namespace_, name}, key.name, &pod.tree()->get_object());
            return true;
        });
    for (const auto& [name, object] : found)
        if (const auto service = services_.find({namespace_, name});
            service != services_.end() && service->second.object == object)
            service->second.has_pods = true;
}

void EndpointsController::add_services_for(const std::string& namespace_, std::string_view label,
                                           std::string_view value,
                                           std::set<std::string>& names) const {
    const auto found = by_label_.find({namespace_, fmt::format("{}={}", label, value)});
    if (found != by_label_.end()) names.insert(found->second.begin(), found->second.end());
}

void EndpointsController::put_pod(const NamespacedName& key, const std::string& pod_name,
                                  const json::object* pod) {
    Service& service = services_.at(key);
    std::optional<PodEndpoint> made;
    if (pod != nullptr && matches_labels(service.selector, object_at(metadata_of(*pod), "labels")))
        made = pod_endpoint(service.object->get_object(), *pod);
    const auto known = service.pods.find(pod_name);
    if (!made) {
        if (known == service.pods.end()) return;
        service.pods.erase(known);
    } else {
        if (known != service.pods.end() && known->second == *made) return;
        service.pods.insert_or_assign(pod_name, *std::move(made));
    }
    queue_.add(key);
}

void EndpointsController::observe_pod(const store::StoreChange& change,
                                      const kube::ObjectPtr& before) {
    if (services_.empty()) return;
    std::set<std::string> concerned;
    for (const kube::ObjectPtr& state : {before, change.object})
        if (state != nullptr)
            for (const auto& [key, value] : child(metadata_of(state->get_object()), "labels"))
                if (const json::string* text = value.if_string())
                    add_services_for(change.key.namespace_, key, *text, concerned);
    for (const std::string& name : concerned)
        put_pod({change.key.namespace_, name}, change.key.name,
                change.object == nullptr ? nullptr : &change.object->get_object());
}

std::vector<Slice> EndpointsController::slices_of(const NamespacedName& key) const {
    std::vector<Slice> all;
    const auto names = slices_.find(key);
    if (names == slices_.end()) return all;
    for (const std::string& name : names->second) {
        const CachedObject* found = state_.cache.find(kSlicesResource, key.namespace_, name);
        if (found == nullptr) continue;
        const kube::ObjectPtr tree = found->tree();
        const json::object& slice = tree->get_object();
        all.push_back({name, kube::copy_of(child(metadata_of(slice), "labels")),
                       copied_array(slice, "ports"), copied_array(slice, "endpoints")});
    }
    return all;
}

Task<StatusResult<void>> EndpointsController::reconcile(NamespacedName key) {
    if (const auto known = services_.find(key); known != services_.end() && !known->second.has_pods)
        co_await find_pods(key.namespace_);
    const auto service = services_.find(key);
    if (service == services_.end()) {
        // What is left of a service that is gone; the slices go with their owner.
        if (state_.cache.find("services", key.namespace_, key.name) == nullptr &&
            state_.cache.find("endpoints", key.namespace_, key.name) != nullptr)
            co_return co_await remove(kEndpoints, key);
        co_return StatusResult<void>();
    }
    // It changed meanwhile, and is in the queue again.
    if (!service->second.has_pods) co_return StatusResult<void>();
    const kube::ObjectPtr object = service->second.object;
    json::array subsets = subsets_of(object->get_object(), service->second.pods);
    SliceChanges changes =
        slice_changes(object->get_object(), service->second.pods, slices_of(key));
    CO_TRY_VOID(co_await write_endpoints(key, object, std::move(subsets)));
    for (Slice& slice : changes.written)
        CO_TRY_VOID(co_await write_slice(key, object, std::move(slice)));
    for (std::string& name : changes.removed)
        CO_TRY_VOID(co_await remove(kSlices, {key.namespace_, std::move(name)}));
    co_return StatusResult<void>();
}

Task<StatusResult<void>> EndpointsController::create(const kube::ResourceType& type,
                                                     std::string namespace_, json::object object) {
    // The namespace ends, or someone else was faster: a change of it follows.
    co_return done_unless(co_await writer_.create(type, std::move(namespace_), std::move(object)),
                          {Code::kAlreadyExists, Code::kForbidden, Code::kNotFound});
}

Task<StatusResult<void>> EndpointsController::remove(const kube::ResourceType& type,
                                                     NamespacedName key) {
    Target target;
    target.def = state_.registry.find(type.api_version(), type.plural);
    target.namespace_ = std::move(key.namespace_);
    target.name = std::move(key.name);
    co_return done_unless(co_await writer_.remove(std::move(target), DeleteQuery{}),
                          {Code::kNotFound});
}

Task<StatusResult<void>> EndpointsController::write_endpoints(NamespacedName key,
                                                              kube::ObjectPtr service,
                                                              json::array subsets) {
    const json::object labels = endpoints_labels(service->get_object());
    if (state_.cache.find("endpoints", key.namespace_, key.name) == nullptr) {
        json::object made{{"metadata", json::object{{"name", key.name}, {"labels", labels}}}};
        if (!subsets.empty()) made["subsets"] = std::move(subsets);
        co_return co_await create(kEndpoints, key.namespace_, std::move(made));
    }
    const DefPtr def = state_.registry.find(kEndpoints.api_version(), kEndpoints.plural);
    const json::value wanted(std::move(subsets));
    Writer::Change change = [def, labels, wanted](const json::value& current) {
        kube::Document next(current, kube::tree_bytes(wanted) + 4096);
        ensure_object(next.object(), "metadata")["labels"] = labels;
        if (wanted.get_array().empty())
            next.object().erase("subsets");
        else
            next.object()["subsets"] = wanted;
        return StatusResult<NextState>(settle(*def, current, std::move(next)));
    };
    co_return done_unless(
        co_await writer_.rewrite(def, key.namespace_, key.name, std::move(change), {.pure = true}),
        {Code::kNotFound});
}

Task<StatusResult<void>> EndpointsController::write_slice(NamespacedName key,
                                                          kube::ObjectPtr service, Slice slice) {
    const json::object& owner = service->get_object();
    if (slice.name.empty()) {
        const json::object reference{{"apiVersion", "v1"}, {"kind", "Service"},
                                     {"name", key.name},   {"uid", uid_of(owner)},
                                     {"controller", true}, {"blockOwnerDeletion", true}};
        json::object made{{"metadata", json::object{{"generateName", key.name + "-"},
                                                    {"labels", slice.labels},
                                                    {"ownerReferences", json::array{reference}}}},
                          {"addressType", "IPv4"},
                          {"endpoints", std::move(slice.endpoints)},
                          {"ports", std::move(slice.ports)}};
        co_return co_await create(kSlices, key.namespace_, std::move(made));
    }
    const DefPtr def = state_.registry.find(kSlices.api_version(), kSlices.plural);
    const json::value endpoints(std::move(slice.endpoints));
    Writer::Change change = [def, endpoints, labels = slice.labels](const json::value& current) {
        kube::Document next(current, kube::tree_bytes(endpoints) + 4096);
        ensure_object(next.object(), "metadata")["labels"] = labels;
        next.object()["endpoints"] = endpoints;
        return StatusResult<NextState>(settle(*def, current, std::move(next)));
    };
    co_return done_unless(co_await writer_.rewrite(def, key.namespace_, slice.name,
                                                   std::move(change), {.pure = true}),
                          {Code::kNotFound});
}

}  // namespace muster::apiserver
