#include "apiserver/api_server.h"

#include "apiserver/internal/crd.h"
#include "apiserver/internal/json_access.h"
#include "apiserver/internal/lists.h"
#include "apiserver/internal/presentation.h"
#include "apiserver/internal/router.h"
#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writer.h"
#include "base/check.h"
#include "base/log.h"

namespace muster::apiserver {

namespace {

// What a server waits for a revision that it has not reached.
constexpr Duration kFutureRevisionWait = std::chrono::seconds(3);

kube::ObjectPtr success_status(const ResourceDef& def, const json::object& object) {
    json::object details{{"name", name_of(object)}};
    if (!def.type.group.empty()) details["group"] = def.type.group;
    details["kind"] = def.type.plural;
    details["uid"] = uid_of(object);
    return std::make_shared<const json::value>(json::object{{"kind", "Status"},
                                                            {"apiVersion", "v1"},
                                                            {"metadata", json::object()},
                                                            {"status", "Success"},
                                                            {"details", std::move(details)}});
}

}  // namespace

struct ApiServer::Impl {
    Impl(asio::any_io_executor executor, Clock& clock, Rng& rng, std::unique_ptr<Store> store,
         ApiServerOptions options)
        : state(std::move(executor), clock, rng, std::move(store), options), writer(state) {}

    ServerState state;
    Writer writer;
    bool started = false;

    Task<Result<void>> load();
    Task<Result<void>> create_namespaces();
    void on_change(const StoreChange& change);
    void serve_definition(const json::object& crd);

    Task<Answer<kube::Response>> serve(Target target, kube::Request request);
    Task<Answer<kube::Response>> read(Target target, kube::Request request);
    Task<Answer<kube::Response>> write(Target target, kube::Request request);
    Task<Answer<kube::Response>> remove(Target target, kube::Request request);
    Task<Answer<void>> wait_for_revision(Revision revision);
    Task<Answer<std::unique_ptr<kube::WatchStream>>> watch(Target target, kube::Request request);
};

Task<Result<void>> ApiServer::Impl::load() {
    for (DefPtr& def : builtin_types()) state.registry.add(std::move(def));
    state.cache.start_at(state.store->revision());
    std::vector<std::string> resources;
    for (const auto& [name, def] : state.registry.resources()) resources.push_back(name);
    for (std::size_t i = 0; i < resources.size(); ++i) {
        CO_TRY(std::vector<StoredObject> objects,
               co_await state.store->list(resources[i], "", std::nullopt, 0));
        for (const StoredObject& stored : objects) {
            state.addresses.observe({stored.key, stored.revision, stored.object, nullptr});
            if (stored.key.resource != kube::types::kCustomResourceDefinitions.qualified())
                continue;
            serve_definition(stored.object->get_object());
            resources.push_back(stored.key.name);
        }
        state.cache.load(resources[i], std::move(objects));
    }
    co_return Result<void>();
}

Task<Result<void>> ApiServer::Impl::create_namespaces() {
    for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        if (state.cache.find("namespaces", "", name) != nullptr) continue;
        Target target;
        target.def = state.registry.find("v1", "namespaces");
        auto body = std::make_shared<const json::value>(
            json::object{{"metadata", json::object{{"name", name}}}});
        Answer<WriteOutcome> made =
            co_await writer.create(std::move(target), std::move(body), WriteQuery{});
        if (!made) co_return made.error().error;
    }
    co_return Result<void>();
}

void ApiServer::Impl::serve_definition(const json::object& crd) {
    state.registry.remove(name_of(crd));
    for (DefPtr& def : definitions_of(crd)) state.registry.add(std::move(def));
}

void ApiServer::Impl::on_change(const StoreChange& change) {
    const kube::ObjectPtr before = state.cache.apply(change);
    if (change.key.resource == "services") {
        state.addresses.observe(change);
    } else if (change.key.resource == kube::types::kCustomResourceDefinitions.qualified()) {
        if (change.object != nullptr) {
            serve_definition(change.object->get_object());
        } else {
            state.registry.remove(change.key.name);
            state.cache.end_watches(change.key.name);
        }
    }
}

Task<Answer<kube::Response>> ApiServer::Impl::serve(Target target, kube::Request request) {
    if (!target.def->deprecation_warning.empty()) {
        // Said with every answer of the version.
    }
    switch (request.method) {
        case kube::Method::kGet:
            co_return co_await read(std::move(target), std::move(request));
        case kube::Method::kPost:
        case kube::Method::kPut:
        case kube::Method::kPatch:
            co_return co_await write(std::move(target), std::move(request));
        case kube::Method::kDelete:
            co_return co_await remove(std::move(target), std::move(request));
    }
    co_return method_not_allowed();
}

Task<Answer<void>> ApiServer::Impl::wait_for_revision(Revision revision) {
    if (revision <= state.cache.revision()) co_return Answer<void>();
    co_await state.clock.sleep_for(kFutureRevisionWait);
    if (revision <= state.cache.revision()) co_return Answer<void>();
    co_return revision_too_large(revision, state.cache.revision());
}

Task<Answer<kube::Response>> ApiServer::Impl::read(Target target, kube::Request request) {
    CO_TRY(const ListQuery query, parse_list_query(request));
    CO_TRY_VOID(co_await wait_for_revision(query.resource_version.value_or(0)));
    kube::Response response;
    if (!target.is_collection()) {
        const CachedObject* found =
            state.cache.find(target.def->storage_key(), target.namespace_, target.name);
        if (found == nullptr) co_return not_found(target.type(), target.name);
        response.body = in_version(*target.def, found->object);
        co_return response;
    }
    CO_TRY(const ListPage page, list_objects(state.cache, target, query));
    json::object list = list_envelope(*target.def, page);
    json::array& items = list["items"].emplace_array();
    items.reserve(page.items.size());
    for (const kube::ObjectPtr& item : page.items) items.push_back(*item);
    response.body = std::make_shared<const json::value>(std::move(list));
    co_return response;
}

Task<Answer<kube::Response>> ApiServer::Impl::write(Target target, kube::Request request) {
    const bool post = request.method == kube::Method::kPost;
    const bool put = request.method == kube::Method::kPut;
    if (post != target.is_collection()) co_return method_not_allowed();
    if (post && target.type().namespaced && target.namespace_.empty())
        co_return method_not_allowed();
    CO_TRY(const WriteQuery query, parse_write_query(request, post  ? "CreateOptions"
                                                              : put ? "UpdateOptions"
                                                                    : "PatchOptions"));
    Answer<WriteOutcome> outcome = Error(Code::kInternal, "not written");
    const DefPtr def = target.def;
    if (post)
        outcome = co_await writer.create(std::move(target), std::move(request.body), query);
    else if (put)
        outcome = co_await writer.update(std::move(target), std::move(request.body), query);
    else
        outcome = co_await writer.patch(std::move(target), request.content_type,
                                        std::move(request.body), query);
    if (!outcome) co_return std::move(outcome.error());
    kube::Response response;
    response.status = outcome->created ? 201 : 200;
    response.body = in_version(*def, std::move(outcome->object));
    response.warnings = std::move(outcome->warnings);
    co_return response;
}

Task<Answer<kube::Response>> ApiServer::Impl::remove(Target target, kube::Request request) {
    CO_TRY(const DeleteQuery query, parse_delete_query(request));
    if (target.is_collection()) co_return method_not_allowed();
    const DefPtr def = target.def;
    CO_TRY(WriteOutcome outcome, co_await writer.remove(std::move(target), query));
    kube::Response response;
    if (outcome.removed && !def->returns_deleted)
        response.body = success_status(*def, outcome.object->get_object());
    else
        response.body = in_version(*def, std::move(outcome.object));
    co_return response;
}

Task<Answer<std::unique_ptr<kube::WatchStream>>> ApiServer::Impl::watch(Target target,
                                                                        kube::Request request) {
    if (!target.is_collection()) co_return bad_request("only a collection can be watched");
    CO_TRY(const WatchQuery query, parse_watch_query(request));
    CO_TRY(Selection selection, Selection::make(*target.def, target.namespace_,
                                                query.label_selector, query.field_selector));
    if (query.send_initial_events.value_or(false))
        CO_TRY_VOID(co_await wait_for_revision(query.resource_version.value_or(0)));
    co_return state.cache.watch(target.def, std::move(selection), query);
}

ApiServer::ApiServer(asio::any_io_executor executor, Clock& clock, Rng& rng,
                     std::unique_ptr<Store> store, ApiServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(executor), clock, rng, std::move(store), options)) {}

ApiServer::~ApiServer() = default;

void ApiServer::connect_node(NodeApi& node) { impl_->state.node = &node; }

Task<Result<void>> ApiServer::start() {
    CHECK(!impl_->started, "an API server starts once");
    CO_TRY_VOID(co_await impl_->load());
    impl_->state.store->observe(
        [impl = impl_.get()](const StoreChange& change) { impl->on_change(change); });
    impl_->started = true;
    co_return co_await impl_->create_namespaces();
}

Task<void> ApiServer::stop() {
    impl_->state.cache.end_all_watches();
    co_await impl_->state.tasks.stop();
}

Task<Result<kube::Response>> ApiServer::call(kube::Request request) {
    Answer<Target> target = route(impl_->state.registry, request.path);
    if (!target) co_return to_response(target.error(), nullptr, {});
    const Target named = *target;
    Answer<kube::Response> answer = co_await impl_->serve(std::move(*target), std::move(request));
    if (!answer) co_return to_response(answer.error(), &named.type(), named.name);
    co_return std::move(*answer);
}

Task<Result<std::unique_ptr<kube::WatchStream>>> ApiServer::watch(kube::Request request) {
    Answer<Target> target = route(impl_->state.registry, request.path);
    if (!target) co_return target.error().error;
    Answer<std::unique_ptr<kube::WatchStream>> stream =
        co_await impl_->watch(std::move(*target), std::move(request));
    if (!stream) co_return stream.error().error;
    co_return std::move(*stream);
}

Task<Result<std::unique_ptr<kube::TextStream>>> ApiServer::stream_text(kube::Request request) {
    Answer<Target> target = route(impl_->state.registry, request.path);
    if (!target) co_return target.error().error;
    co_return method_not_allowed().error;
}

}  // namespace muster::apiserver
