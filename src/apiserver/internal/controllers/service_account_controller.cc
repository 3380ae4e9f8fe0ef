#include "apiserver/internal/controllers/service_account_controller.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "kube/transport/server_address.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr const char* kAccount = "default";
constexpr const char* kTrust = "kube-root-ca.crt";
constexpr const char* kServiceNamespace = "default";
constexpr const char* kService = "kubernetes";

/// As clients expect to find it. The server itself listens at its address, in addition to wherever
/// else it does.
json::object server_service(const ServiceRange& range) {
    const json::object port{{"name", "https"},
                            {"protocol", "TCP"},
                            {"port", std::int64_t{kube::kServerServicePort}},
                            {"targetPort", 6443}};
    return {{"metadata", json::object{{"name", kService},
                                      {"labels", json::object{{"component", "apiserver"},
                                                              {"provider", "kubernetes"}}}}},
            {"spec", json::object{{"clusterIP", range.first()}, {"ports", json::array{port}}}}};
}

}  // namespace

ServiceAccountController::ServiceAccountController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("accounts of namespaces", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void ServiceAccountController::recover(const StartingObject& object) {
    if (state_.options.signing_key != nullptr && object.key.resource == "namespaces")
        queue_.add(object.key.name);
}

void ServiceAccountController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (state_.options.signing_key == nullptr) return;
    const store::StoreKey& key = change.key;
    if (key.resource == "namespaces" && change.object != nullptr)
        queue_.add(key.name);
    else if (key.resource == "serviceaccounts" && key.name == kAccount)
        queue_.add(key.namespace_);
    else if (key.resource == "configmaps" && key.name == kTrust)
        queue_.add(key.namespace_);
    else if (key.resource == "services" && key.name == kService &&
             key.namespace_ == kServiceNamespace)
        queue_.add(key.namespace_);
}

Task<StatusResult<void>> ServiceAccountController::make(const kube::ResourceType& type,
                                                        std::string namespace_,
                                                        json::object object) {
    // Another client was faster, or the namespace began to terminate: a change of it will follow.
    co_return done_unless(co_await writer_.create(type, std::move(namespace_), std::move(object)),
                          {Code::kAlreadyExists, Code::kForbidden, Code::kNotFound});
}

Task<StatusResult<void>> ServiceAccountController::make_service() {
    StatusResult<void> made = co_await make(kube::types::kServices, kServiceNamespace,
                                            server_service(state_.options.service_range));
    if (made || made.error().error.code() != Code::kInvalid) co_return made;
    // Another service may have the address, from a time when it was free. Pods reach us through it
    // all the same.
    log::warning("the Service kubernetes can't be made", {{"error", made.error().error.message()}});
    co_return StatusResult<void>();
}

Task<StatusResult<void>> ServiceAccountController::reconcile(std::string namespace_) {
    const CachedObject* space = state_.cache.find("namespaces", "", namespace_);
    if (space == nullptr || is_deleting(*space->object)) co_return StatusResult<void>();
    const bool has_account = state_.options.cluster_controllers;
    if (has_account && state_.cache.find("serviceaccounts", namespace_, kAccount) == nullptr)
        CO_TRY_VOID(co_await make(kube::types::kServiceAccounts, namespace_,
                                  {{"metadata", json::object{{"name", kAccount}}}}));
    if (state_.options.root_ca_pem.empty()) co_return StatusResult<void>();
    if (namespace_ == kServiceNamespace &&
        state_.cache.find("services", namespace_, kService) == nullptr)
        CO_TRY_VOID(co_await make_service());
    if (!has_account) co_return StatusResult<void>();
    const json::object data{{"ca.crt", state_.options.root_ca_pem}};
    if (state_.cache.find("configmaps", namespace_, kTrust) == nullptr)
        co_return co_await make(kube::types::kConfigMaps, namespace_,
                                {{"metadata", json::object{{"name", kTrust}}}, {"data", data}});
    const DefPtr def = state_.registry.find("v1", kube::types::kConfigMaps.plural);
    Writer::Change change = [def, data](const json::value& current) -> StatusResult<NextState> {
        kube::Document next(current);
        next.object()["data"] = data;
        return settle(*def, current, std::move(next));
    };
    co_return done_unless(
        co_await writer_.rewrite(def, namespace_, kTrust, std::move(change), {.pure = true}),
        {Code::kNotFound});
}

}  // namespace muster::apiserver
