#include "apiserver/internal/controllers/role_bootstrap.h"

#include "apiserver/internal/controllers/default_roles.h"
#include "apiserver/internal/controllers/role_reconciliation.h"
#include "apiserver/objects/json_access.h"
#include "base/async/then_stop.h"

namespace muster::apiserver {

namespace {

Task<StatusResult<void>> post(ServerState& state, Writer& writer, DefPtr def,
                              json::object expected) {
    Target target;
    target.def = def;
    const std::string name(name_of(expected));
    const std::string space(namespace_of(expected));
    target.namespace_ = space;
    if (const CachedObject* found = state.cache.find(def->storage_key(), space, name)) {
        Reconciled reconciled = reconcile(found->tree()->get_object(), expected);
        if (reconciled.kind == Reconciled::Kind::kKeep) co_return StatusResult<void>();
        if (reconciled.kind == Reconciled::Kind::kUpdate) {
            Writer::Change change = [def, expected](const json::value& current) {
                Reconciled again = reconcile(current.get_object(), expected);
                if (again.kind != Reconciled::Kind::kUpdate)
                    return StatusResult<NextState>(NextState{});
                return StatusResult<NextState>(
                    settle(*def, current, kube::Document(json::value(std::move(again.object)))));
            };
            CO_TRY_VOID(co_await writer.rewrite(def, space, name, std::move(change)));
            co_return StatusResult<void>();
        }
        Target old = target;
        old.name = name;
        CO_TRY_VOID(co_await writer.remove(std::move(old), DeleteQuery{}));
        expected = std::move(reconciled.object);
    }
    auto body = std::make_shared<const json::value>(std::move(expected));
    CO_TRY_VOID(co_await writer.create(std::move(target), std::move(body), WriteQuery{}));
    co_return StatusResult<void>();
}

Task<void> try_to_post(ServerState& state, Writer& writer, DefPtr def, json::object expected,
                       std::shared_ptr<std::optional<Error>> failure) {
    StatusResult<void> posted = co_await post(state, writer, std::move(def), std::move(expected));
    if (!posted) *failure = std::move(posted.error().error);
}

}  // namespace

Task<Result<void>> post_default_roles(ServerState& state, Writer& writer) {
    // In parallel, so that a store with a disk commits them together.
    TaskGroup posting(state.executor);
    const auto failure = std::make_shared<std::optional<Error>>();
    for (DefaultObject& one : default_access_objects()) {
        DefPtr def = state.registry.find(one.type->api_version(), one.type->plural);
        posting.spawn(
            "default access",
            try_to_post(state, writer, std::move(def), std::move(one.object), failure),
            [failure](const std::string& what) { failure->emplace(Code::kInternal, what); });
    }
    co_await then_stop(posting.join(), posting);
    if (!*failure) co_return Result<void>();
    (*failure)->prefix("posting the default roles");
    co_return **failure;
}

}  // namespace muster::apiserver
