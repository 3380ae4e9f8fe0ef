#include "apiserver/api_server.h"

#include "apiserver/internal/controllers/authentication_config.h"
#include "apiserver/internal/controllers/role_bootstrap.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/startup/controllers.h"
#include "apiserver/internal/types/builtin_types.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/internal/verbs/verbs.h"
#include "apiserver/internal/writing/writer.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/objects/tree_beside.h"
#include "apiserver/requests/router.h"
#include "base/async/cancellation.h"
#include "base/check.h"
#include "base/unexpected.h"
#include "kube/values/text_size.h"

namespace muster::apiserver {

struct ApiServer::Impl {
    Impl(asio::any_io_executor executor, Clock& clock, Rng& rng,
         std::unique_ptr<store::Store> store, ApiServerOptions options)
        : state(std::move(executor), clock, rng, std::move(store), options),
          writer(state),
          verbs(state, writer),
          controllers(make_controllers(state, writer)) {}

    ServerState state;
    Writer writer;
    Verbs verbs;
    std::vector<std::unique_ptr<Controller>> controllers;
    bool started = false;

    Task<Result<void>> load();
    /// Passes the existing objects to the controllers.
    void recover(const std::vector<std::string>& resources);
    Task<Result<void>> create_namespaces();
    Task<Result<void>> create_priority_classes();
    void on_change(const store::StoreChange& change);
    void serve_definition(const json::object& crd, const store::ObjectText& text);
};

Task<Result<void>> ApiServer::Impl::load() {
    for (DefPtr& def : builtin_types(state.read_definition)) state.registry.add(std::move(def));
    const store::StoreHistory past = state.store->history();
    state.cache.start_at(state.store->revision(), past.floor);
    std::vector<std::string> resources;
    for (const auto& [name, def] : state.registry.resources()) resources.push_back(name);
    for (std::size_t i = 0; i < resources.size(); ++i) {
        CO_TRY(std::vector<store::StoredObject> objects,
               co_await state.store->list(resources[i], "", std::nullopt, 0));
        for (const store::StoredObject& stored : objects) {
            if (stored.key.resource == "services")
                state.addresses.observe(
                    {stored.key, stored.revision, stored.object->tree(), nullptr, nullptr});
            if (stored.key.resource == kPriorityClasses)
                state.default_class.follow(nullptr, &stored.object->tree()->get_object());
            if (stored.key.resource == kStorageClasses)
                state.default_storage.follow(nullptr, &stored.object->tree()->get_object());
            if (stored.key.resource != kube::types::kCustomResourceDefinitions.qualified())
                continue;
            serve_definition(stored.object->tree()->get_object(), *stored.object);
            resources.push_back(stored.key.name);
        }
        state.cache.load(resources[i], std::move(objects));
    }
    for (const store::StoreHistory::Entry& entry : past.changes) state.cache.remember(entry);
    recover(resources);
    co_return Result<void>();
}

void ApiServer::Impl::recover(const std::vector<std::string>& resources) {
    for (const std::string& resource : resources) {
        for (const auto& [key, cached] : state.cache.objects(resource)) {
            const store::StoreKey whole{resource, key.namespace_, key.name};
            const bool owned_or_deleting = any_at_path(cached.object->text(), "metadata",
                                                       {"ownerReferences", "deletionTimestamp"});
            for (const auto& controller : controllers)
                controller->recover({whole, cached, owned_or_deleting});
        }
    }
}

Task<Result<void>> ApiServer::Impl::create_namespaces() {
    for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        if (state.cache.find("namespaces", "", name) != nullptr) continue;
        StatusResult<WriteOutcome> made = co_await writer.create(
            kube::types::kNamespaces, "", {{"metadata", json::object{{"name", name}}}});
        if (!made) co_return made.error().error;
    }
    co_return Result<void>();
}

Task<Result<void>> ApiServer::Impl::create_priority_classes() {
    for (const SystemPriorityClass& priority : kSystemPriorityClasses) {
        if (state.cache.find(kPriorityClasses, "", priority.name) != nullptr) continue;
        Target target;
        target.def = state.registry.find("scheduling.k8s.io/v1", "priorityclasses");
        auto body = std::make_shared<const json::value>(
            json::object{{"metadata", json::object{{"name", priority.name}}},
                         {"value", priority.value},
                         {"description", priority.description}});
        StatusResult<WriteOutcome> made =
            co_await writer.create(std::move(target), std::move(body), WriteQuery{});
        if (!made) co_return made.error().error;
    }
    co_return Result<void>();
}

void ApiServer::Impl::serve_definition(const json::object& crd, const store::ObjectText& text) {
    state.registry.remove(name_of(crd));
    const std::string_view spec = text_at_path(text.text(), "spec").value_or("");
    for (DefPtr& def : definitions_of(crd, state.read_definition, spec))
        state.registry.add(std::move(def));
}

void ApiServer::Impl::on_change(const store::StoreChange& change) {
    const store::ObjectTextPtr replaced = state.cache.apply(change);
    const kube::ObjectPtr before = replaced == nullptr ? nullptr : replaced->tree();
    if (change.key.resource == "services") {
        state.addresses.observe(change);
    } else if (change.key.resource == kPriorityClasses) {
        state.default_class.follow(
            before == nullptr ? nullptr : &before->get_object(),
            change.object == nullptr ? nullptr : &change.object->get_object());
    } else if (change.key.resource == kStorageClasses) {
        state.default_storage.follow(
            before == nullptr ? nullptr : &before->get_object(),
            change.object == nullptr ? nullptr : &change.object->get_object());
    } else if (change.key.resource == kube::types::kCustomResourceDefinitions.qualified()) {
        if (change.object != nullptr) {
            const json::object& crd = change.object->get_object();
            // Parsing a large schema takes longer than the rest of a write to its status.
            if (before == nullptr || !declares_the_same(crd, before->get_object()))
                contained("serving a definition", [&] { serve_definition(crd, *change.text); });
        } else {
            state.registry.remove(change.key.name);
            state.cache.end_watches(change.key.name);
        }
    }
    for (const auto& controller : controllers)
        contained("a controller that observes", [&] { controller->observe(change, before); });
}

ApiServer::ApiServer(asio::any_io_executor executor, Clock& clock, Rng& rng,
                     std::unique_ptr<store::Store> store, ApiServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(executor), clock, rng, std::move(store), options)) {}

ApiServer::~ApiServer() = default;

RequestHandler& ApiServer::handler() { return impl_->verbs; }

void ApiServer::connect_webhooks(WebhookCaller& caller) { impl_->state.webhooks = &caller; }

void ApiServer::connect_extensions(ExtensionCaller& caller) {
    impl_->state.extension_caller = &caller;
}

void ApiServer::connect_node(NodeApi& node) { impl_->state.node = &node; }

Task<Result<void>> ApiServer::start() {
    CHECK(!impl_->started, "an API server starts once");
    CO_TRY_VOID(co_await impl_->load());
    impl_->state.store->observe(
        [impl = impl_.get()](const store::StoreChange& change) { impl->on_change(change); });
    impl_->started = true;
    CO_TRY_VOID(co_await impl_->create_namespaces());
    if (impl_->state.options.priority_classes)
        CO_TRY_VOID(co_await impl_->create_priority_classes());
    if (impl_->state.options.default_roles) {
        CO_TRY_VOID(co_await post_default_roles(impl_->state, impl_->writer));
        CO_TRY_VOID(co_await post_authentication_config(impl_->state, impl_->writer));
    }
    for (const auto& controller : impl_->controllers) controller->started();
    co_return Result<void>();
}

Task<void> ApiServer::stop() {
    impl_->state.cache.end_all_watches();
    co_await impl_->state.tasks.stop();
    co_await impl_->state.store->stop();
}

namespace {

/// Called in a catch block: callers within the process get an error, as the clients of a server do.
/// A cancellation is passed on.
Error failure_of_request() {
    if (is_cancellation(std::current_exception())) throw;
    return {Code::kInternal,
            report_unexpected("a request within the process", std::current_exception())};
}

}  // namespace

Task<Result<kube::Response>> ApiServer::call(kube::Request request) {
    try {
        StatusResult<Target> target = route(impl_->state.registry, request.path);
        if (!target) co_return to_response(target.error(), nullptr, {});
        const Target named = *target;
        const bool items_apart = request.items_apart;
        Requester requester;
        if (request.body != nullptr && impl_->state.options.side_thread != nullptr)
            requester.body_bytes = kube::text_size(*request.body, kWorthSideThread);
        StatusResult<Reply> answer = co_await impl_->verbs.call(
            std::move(*target), std::move(request), std::move(requester));
        if (!answer) co_return to_response(answer.error(), &named.type(), named.name);
        kube::ObjectPtr held;  // for to_response(), which reads it again
        if (answer->object != nullptr)
            held = co_await tree_beside(impl_->state.options.side_thread, answer->object);
        co_return to_response(*std::move(answer), items_apart);
    } catch (...) {
        co_return failure_of_request();
    }
}

Task<Result<std::unique_ptr<kube::WatchStream>>> ApiServer::watch(kube::Request request) {
    try {
        StatusResult<Target> target = route(impl_->state.registry, request.path);
        if (!target) co_return target.error().error;
        StatusResult<std::unique_ptr<Watcher>> watcher =
            co_await impl_->verbs.watch(std::move(*target), std::move(request));
        if (!watcher) co_return watcher.error().error;
        (*watcher)->read_beside(impl_->state.options.side_thread);
        co_return std::move(*watcher);
    } catch (...) {
        co_return failure_of_request();
    }
}

Task<Result<std::unique_ptr<kube::TextStream>>> ApiServer::stream_text(kube::Request request) {
    try {
        StatusResult<Target> target = route(impl_->state.registry, request.path);
        if (!target) co_return target.error().error;
        StatusResult<std::unique_ptr<kube::TextStream>> stream =
            co_await impl_->verbs.log(std::move(*target), std::move(request));
        if (!stream) co_return stream.error().error;
        co_return std::move(*stream);
    } catch (...) {
        co_return failure_of_request();
    }
}

}  // namespace muster::apiserver
