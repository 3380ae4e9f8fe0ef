#include "apiserver/internal/access/account_keeper.h"

#include "apiserver/internal/json_access.h"
#include "kube/equality.h"

namespace muster::apiserver {

namespace {

constexpr const char* kAccount = "default";
constexpr const char* kTrust = "kube-root-ca.crt";

}  // namespace

AccountKeeper::AccountKeeper(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      work_("accounts of namespaces", state.tasks, state.clock,
            [this](std::string name) { return furnish(std::move(name)); }) {}

void AccountKeeper::observe(const StoreChange& change) {
    if (state_.options.signing_key == nullptr) return;
    const StoreKey& key = change.key;
    if (key.resource == "namespaces" && change.object != nullptr)
        work_.add(key.name);
    else if (key.resource == "serviceaccounts" && key.name == kAccount)
        work_.add(key.namespace_);
    else if (key.resource == "configmaps" && key.name == kTrust)
        work_.add(key.namespace_);
}

Task<Answer<void>> AccountKeeper::make(const kube::ResourceType& type, std::string namespace_,
                                       json::object object) {
    Target target;
    target.def = state_.registry.find(type.api_version(), type.plural);
    target.namespace_ = std::move(namespace_);
    auto body = std::make_shared<const json::value>(std::move(object));
    Answer<WriteOutcome> made =
        co_await writer_.create(std::move(target), std::move(body), WriteQuery{});
    // Somebody else was quicker, or the namespace began to go: there is a change of it to come.
    if (!made && made.error().error.code() != Code::kAlreadyExists &&
        made.error().error.code() != Code::kForbidden &&
        made.error().error.code() != Code::kNotFound)
        co_return std::move(made.error());
    co_return Answer<void>();
}

Task<Answer<void>> AccountKeeper::furnish(std::string namespace_) {
    const CachedObject* space = state_.cache.find("namespaces", "", namespace_);
    if (space == nullptr || is_deleting(space->object->get_object())) co_return Answer<void>();
    if (state_.cache.find("serviceaccounts", namespace_, kAccount) == nullptr)
        CO_TRY_VOID(co_await make(kube::types::kServiceAccounts, namespace_,
                                  {{"metadata", json::object{{"name", kAccount}}}}));
    if (state_.options.root_ca_pem.empty()) co_return Answer<void>();
    const json::object data{{"ca.crt", state_.options.root_ca_pem}};
    if (state_.cache.find("configmaps", namespace_, kTrust) == nullptr)
        co_return co_await make(kube::types::kConfigMaps, namespace_,
                                {{"metadata", json::object{{"name", kTrust}}}, {"data", data}});
    const DefPtr def = state_.registry.find("v1", kube::types::kConfigMaps.plural);
    Writer::Change change = [def, data](const json::value& current) -> Answer<NextState> {
        kube::Document next(current);
        next.object()["data"] = data;
        return settle(*def, current, std::move(next));
    };
    Answer<WriteOutcome> written =
        co_await writer_.rewrite(def, namespace_, kTrust, std::move(change), false);
    if (!written && written.error().error.code() != Code::kNotFound)
        co_return std::move(written.error());
    co_return Answer<void>();
}

}  // namespace muster::apiserver
