#include "apiserver/internal/controllers/authentication_config.h"

#include "apiserver/internal/controllers/default_roles.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr const char* kConfigNamespace = "kube-system";

/// What servers that extend this one read.
json::object wanted_data(const ApiServerOptions& options) {
    json::object data{{"client-ca-file", options.root_ca_pem}};
    if (options.front_proxy_ca_pem.empty()) return data;
    // Lists in the form of JSON, which is what their library expects.
    data["requestheader-client-ca-file"] = options.front_proxy_ca_pem;
    data["requestheader-allowed-names"] = R"(["front-proxy-client"])";
    data["requestheader-username-headers"] = R"(["X-Remote-User"])";
    data["requestheader-uid-headers"] = R"(["X-Remote-Uid"])";
    data["requestheader-group-headers"] = R"(["X-Remote-Group"])";
    data["requestheader-extra-headers-prefix"] = R"(["X-Remote-Extra-"])";
    return data;
}

Task<StatusResult<void>> keep_config(ServerState& state, Writer& writer) {
    if (state.options.root_ca_pem.empty()) co_return StatusResult<void>();
    const json::object data = wanted_data(state.options);
    Target target;
    target.def = state.registry.find("v1", kube::types::kConfigMaps.plural);
    target.namespace_ = kConfigNamespace;
    target.name = kAuthenticationConfig;
    if (state.cache.find(target.def->storage_key(), target.namespace_, target.name) == nullptr) {
        auto body = std::make_shared<const json::value>(json::object{
            {"metadata", json::object{{"name", kAuthenticationConfig}}}, {"data", data}});
        CO_TRY_VOID(co_await writer.create(std::move(target), std::move(body), WriteQuery{}));
        co_return StatusResult<void>();
    }
    Writer::Change change = [def = target.def,
                             data](const json::value& current) -> StatusResult<NextState> {
        kube::Document next(current, kube::tree_bytes(json::value(data)));
        json::object& known = ensure_object(next.object(), "data");
        for (const auto& entry : data) known.insert_or_assign(entry.key(), entry.value());
        return settle(*def, current, std::move(next));
    };
    CO_TRY_VOID(
        co_await writer.rewrite(target.def, target.namespace_, target.name, std::move(change)));
    co_return StatusResult<void>();
}

}  // namespace

Task<Result<void>> post_authentication_config(ServerState& state, Writer& writer) {
    StatusResult<void> kept = co_await keep_config(state, writer);
    if (!kept) co_return std::move(kept.error().error);
    co_return Result<void>();
}

AuthenticationConfigController::AuthenticationConfigController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("configuration of extension servers", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void AuthenticationConfigController::observe(const store::StoreChange& change,
                                             const kube::ObjectPtr&) {
    const store::StoreKey& key = change.key;
    if (key.resource == "configmaps" && key.name == kAuthenticationConfig &&
        key.namespace_ == kConfigNamespace && state_.options.default_roles)
        queue_.add(key.name);
}

Task<StatusResult<void>> AuthenticationConfigController::reconcile(std::string) {
    // If its namespace ends, or another client was faster, a change follows.
    co_return done_unless(co_await keep_config(state_, writer_),
                          {Code::kAlreadyExists, Code::kForbidden, Code::kNotFound});
}

}  // namespace muster::apiserver
