#include "apiserver/internal/extensions/registration_controller.h"

#include "apiserver/aggregation/extension_server.h"
#include "apiserver/internal/api_services/local_api_service.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// What of a definition says which versions are served.
std::set<std::string> registered_names(const kube::ObjectPtr& definition) {
    std::set<std::string> names;
    if (definition == nullptr) return names;
    const json::object& spec = child(definition->get_object(), "spec");
    for (const json::object* version : objects_at(spec, "versions"))
        names.insert(api_service_name(string_at(spec, "group"), string_at(*version, "name")));
    return names;
}

}  // namespace

RegistrationController::RegistrationController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("registration of APIServices", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void RegistrationController::recover(const StartingObject& object) {
    if (object.key.resource != kApiServices.qualified()) return;
    at_start_.insert(object.key.name);
    queue_.add(object.key.name);
}

void RegistrationController::started() {
    for (const auto& [api_version, defs] : state_.registry.served()) {
        const kube::ResourceType& type = defs.front()->type;
        // It has none, as it is there before any of them.
        if (type.group != kApiServices.group)
            queue_.add(api_service_name(type.group, type.version));
    }
}

void RegistrationController::observe(const store::StoreChange& change,
                                     const kube::ObjectPtr& before) {
    if (change.key.resource == kApiServices.qualified()) {
        queue_.add(change.key.name);
    } else if (change.key.resource == kube::types::kCustomResourceDefinitions.qualified()) {
        std::set<std::string> concerned = registered_names(before);
        concerned.merge(registered_names(change.object));
        for (const std::string& name : concerned) queue_.add(name);
    }
}

Task<StatusResult<void>> RegistrationController::reconcile(std::string name) {
    const DefPtr served = state_.registry.any_of(api_version_of(name));
    std::optional<json::object> wanted;
    if (served != nullptr && served->type.group != kApiServices.group)
        wanted = local_api_service(*served);
    const CachedObject* found = state_.cache.find(kApiServices.qualified(), "", name);
    const kube::ObjectPtr current = found == nullptr ? nullptr : found->tree();
    const Registration what =
        decide_registration({.wanted = wanted ? &*wanted : nullptr,
                             .current = current == nullptr ? nullptr : &current->get_object(),
                             .was_at_start = at_start_.contains(name),
                             .synced = synced_.contains(name)});
    if (what == Registration::kDelete)
        co_return co_await remove(std::move(name), std::string(uid_of(current->get_object())));
    if (what == Registration::kCreate) CO_TRY_VOID(co_await create(*wanted));
    if (what == Registration::kUpdate) CO_TRY_VOID(co_await change(name, *wanted));
    if (wanted && !served->custom) synced_.insert(std::move(name));
    co_return StatusResult<void>();
}

Task<StatusResult<void>> RegistrationController::create(json::object wanted) {
    co_return done_unless(co_await writer_.create(kApiServices, "", std::move(wanted)),
                          {Code::kAlreadyExists});
}

Task<StatusResult<void>> RegistrationController::change(std::string name, json::object wanted) {
    const DefPtr def = state_.registry.find(kApiServices.api_version(), kApiServices.plural);
    Writer::Change change =
        [def, spec = child(wanted, "spec")](const json::value& current) -> StatusResult<NextState> {
        kube::Document next(current);
        next.object()["spec"] = spec;
        return settle(*def, current, std::move(next));
    };
    co_return done_unless(co_await writer_.rewrite(def, "", std::move(name), std::move(change)),
                          {Code::kNotFound});
}

Task<StatusResult<void>> RegistrationController::remove(std::string name, std::string uid) {
    Target target;
    target.def = state_.registry.find(kApiServices.api_version(), kApiServices.plural);
    target.name = std::move(name);
    DeleteQuery query;
    query.precondition_uid = std::move(uid);
    co_return done_unless(co_await writer_.remove(std::move(target), std::move(query)),
                          {Code::kNotFound, Code::kConflict});
}

}  // namespace muster::apiserver
