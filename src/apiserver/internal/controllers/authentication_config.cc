#include "apiserver/internal/controllers/authentication_config.h"

#include "apiserver/internal/controllers/default_roles.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

Task<Result<void>> post_authentication_config(ServerState& state, Writer& writer) {
    if (state.options.root_ca_pem.empty()) co_return Result<void>();
    Target target;
    target.def = state.registry.find("v1", kube::types::kConfigMaps.plural);
    target.namespace_ = "kube-system";
    target.name = kAuthenticationConfig;
    const json::object data{{"client-ca-file", state.options.root_ca_pem}};
    if (state.cache.find(target.def->storage_key(), target.namespace_, target.name) != nullptr) {
        Writer::Change change = [def = target.def,
                                 data](const json::value& current) -> StatusResult<NextState> {
            kube::Document next(current, kube::tree_bytes(json::value(data)));
            json::object& known = ensure_object(next.object(), "data");
            for (const auto& entry : data) known.insert_or_assign(entry.key(), entry.value());
            return settle(*def, current, std::move(next));
        };
        const StatusResult<WriteOutcome> changed =
            co_await writer.rewrite(target.def, target.namespace_, target.name, std::move(change));
        if (!changed) co_return changed.error().error;
        co_return Result<void>();
    }
    auto body = std::make_shared<const json::value>(
        json::object{{"metadata", json::object{{"name", kAuthenticationConfig}}}, {"data", data}});
    const StatusResult<WriteOutcome> made =
        co_await writer.create(std::move(target), std::move(body), WriteQuery{});
    if (!made) co_return made.error().error;
    co_return Result<void>();
}

}  // namespace muster::apiserver
