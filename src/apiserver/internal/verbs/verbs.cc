#include "apiserver/internal/verbs/verbs.h"

#include <boost/asio/post.hpp>

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/internal/types/builtin_types.h"
#include "apiserver/internal/verbs/eviction.h"
#include "apiserver/internal/verbs/lists.h"
#include "apiserver/internal/verbs/metrics.h"
#include "apiserver/internal/verbs/pod_log.h"
#include "apiserver/internal/verbs/subresources.h"
#include "apiserver/internal/verbs/token_request.h"
#include "apiserver/internal/writing/patching.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/requests/pod_containers.h"
#include "base/time/loop_watch.h"

namespace muster::apiserver {

namespace {

// How long a server waits for a revision that it has not reached.
constexpr Duration kFutureRevisionWait = std::chrono::seconds(3);
constexpr int kDeletionsPerTurn = 64;

kube::ObjectPtr shared(json::object object) {
    return std::make_shared<const json::value>(std::move(object));
}

kube::ObjectPtr success_status(const ResourceDef& def, const json::object& object) {
    json::object details{{"name", name_of(object)}};
    if (!def.type.group.empty()) details["group"] = def.type.group;
    details["kind"] = def.type.plural;
    details["uid"] = uid_of(object);
    return shared({{"kind", "Status"},
                   {"apiVersion", "v1"},
                   {"metadata", json::object()},
                   {"status", "Success"},
                   {"details", std::move(details)}});
}

/// `warnings`: about the body's text, before those about its fields.
Task<StatusResult<Reply>> written(ServerState& state, DefPtr def, WriteOutcome outcome,
                                  std::vector<std::string> warnings = {}) {
    Reply reply;
    reply.status = outcome.created ? 201 : 200;
    CO_TRY(reply.object, co_await show(state, def, std::move(outcome.object)));
    reply.warnings = std::move(warnings);
    std::ranges::move(outcome.warnings, std::back_inserter(reply.warnings));
    if (outcome.created)
        if (std::string unattended =
                creation_warning(*def, {.volumes = !state.options.volumes.root.empty(),
                                        .workloads = state.options.workload_controllers});
            !unattended.empty())
            reply.warnings.push_back(std::move(unattended));
    co_return reply;
}

/// The warnings about duplicate fields in the body's text. 400 if they are not allowed.
StatusResult<std::vector<std::string>> check_duplicates(const ResourceDef& def,
                                                        const kube::Request& request,
                                                        const WriteQuery& query) {
    std::vector<std::string> warnings;
    if (query.field_validation == kube::FieldValidation::kIgnore) return warnings;
    for (const std::string& field : request.duplicate_fields)
        warnings.push_back(fmt::format("duplicate field \"{}\"", field));
    if (query.field_validation != kube::FieldValidation::kStrict || warnings.empty())
        return warnings;
    // All errors are reported together. The result of a patch is not known yet.
    if (request.method != kube::Method::kPatch && request.body != nullptr)
        for (const kube::UnknownField& unknown : kube::find_unknown(*def.schema, *request.body))
            warnings.push_back(fmt::format("unknown field \"{}\"", unknown.path));
    return bad_request(
        fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: strict decoding error: {2}",
                    def.type.kind, def.type.version, fmt::join(warnings, ", ")));
}

/// The namespaces that the system needs.
bool is_undeletable(const Target& target) {
    return target.def->storage_key() == "namespaces" &&
           (target.name == "default" || target.name == "kube-system" ||
            target.name == "kube-public");
}

Reply listed(const ResourceDef& def, ListPage page) {
    Reply reply;
    reply.body = shared(list_envelope(def, page));
    reply.items = std::move(page.items);
    return reply;
}

/// Null for a resource that no webhook converts.
ShowAll shown_by_webhook(ServerState& state, DefPtr def) {
    if (def->webhook_conversion == nullptr) return nullptr;
    return [&state, def = std::move(def)](std::vector<store::ObjectTextPtr> objects) {
        return show_all(state, def, std::move(objects));
    };
}

class EmptyText final : public kube::TextStream {
  public:
    Task<Result<std::optional<std::string>>> read() override {
        co_return std::optional<std::string>();
    }
};

}  // namespace

Verbs::Verbs(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      conversions_(state.tasks, [&state](DefPtr def, store::ObjectTextPtr object) {
          return show(state, std::move(def), std::move(object));
      }) {}

Task<StatusResult<Reply>> Verbs::call(Target target, kube::Request request, Requester requester) {
    const DefPtr def = target.def;
    StatusResult<Reply> answer = method_not_allowed();
    const kube::Method method = request.method;
    if (!def->stored)
        answer = method_not_allowed();  // the front end answers it, which knows the user
    else if (def->is_metrics)
        answer = co_await measure(std::move(target), std::move(request));
    else if (target.subresource == "status" && !def->has_status)
        answer = not_found(def->type, target.name);
    else if (target.subresource == "scale")
        answer = co_await scale(std::move(target), std::move(request));
    else if (target.subresource == "binding")
        answer = co_await bind(std::move(target), std::move(request));
    else if (target.subresource == "token")
        answer = grant_token(state_, target, request);
    else if (target.subresource == "eviction")
        answer = co_await evict_pod(state_, writer_, std::move(target), std::move(request));
    else if (target.subresource == "finalize")
        answer = co_await finalize(std::move(target), std::move(request));
    else if (target.subresource == "log")
        answer = method_not_allowed();  // a log is read as a stream
    else if (is_connection(target.subresource))
        answer = bad_request("Upgrade request required");
    else if (method == kube::Method::kGet)
        answer = co_await read(std::move(target), std::move(request));
    else if (method == kube::Method::kPost)
        answer = co_await create(std::move(target), std::move(request), std::move(requester));
    else if (method == kube::Method::kDelete)
        answer = co_await remove(std::move(target), std::move(request), std::move(requester));
    else
        answer = co_await change(std::move(target), std::move(request), std::move(requester));
    const Duration head_start = state_.options.answers_after_events;
    if (answer && method != kube::Method::kGet && head_start > Duration::zero())
        co_await state_.clock.sleep_for(head_start);
    if (answer && !def->deprecation_warning.empty())
        answer->warnings.insert(answer->warnings.begin(), def->deprecation_warning);
    co_return answer;
}

Task<StatusResult<void>> Verbs::wait_for_revision(store::Revision revision) {
    if (revision > state_.cache.revision()) co_await state_.clock.sleep_for(kFutureRevisionWait);
    if (revision > state_.cache.revision())
        co_return revision_too_large(revision, state_.cache.revision());
    co_return StatusResult<void>();
}

Task<StatusResult<Reply>> Verbs::read(Target target, kube::Request request) {
    if (target.is_collection()) co_return co_await list(std::move(target), std::move(request));
    CO_TRY(const ListQuery query, parse_list_query(request));
    CO_TRY_VOID(co_await wait_for_revision(query.resource_version.value_or(0)));
    const CachedObject* found =
        state_.cache.find(target.def->storage_key(), target.namespace_, target.name);
    if (found == nullptr) co_return not_found(target.type(), target.name);
    Reply reply;
    CO_TRY(reply.object, co_await show(state_, target.def, found->object));
    co_return reply;
}

Task<StatusResult<Reply>> Verbs::measure(Target target, kube::Request request) {
    if (request.method != kube::Method::kGet) co_return method_not_allowed();
    CO_TRY(const ListQuery query, parse_list_query(request));
    if (state_.node == nullptr)
        co_return unavailable(
            "there are no measurements: this API server has no connection to a node");
    CO_TRY(const kube::NodeUsage usage, co_await state_.node->usage());
    Target stored = target;
    stored.def = state_.registry.find("v1", target.type().plural);
    Reply reply;
    if (!target.is_collection()) {
        const CachedObject* found =
            state_.cache.find(stored.def->storage_key(), target.namespace_, target.name);
        const kube::ObjectPtr metrics =
            found == nullptr ? nullptr
                             : metrics_of(*target.def, found->tree()->get_object(), usage);
        if (metrics == nullptr) co_return not_found(target.type(), target.name);
        reply.object = store::ObjectText::of(metrics);
        co_return reply;
    }
    CO_TRY(ListPage page, co_await list_objects(state_.cache, stored, query));
    std::vector<store::ObjectTextPtr> items;
    for (const store::ObjectTextPtr& object : page.items)
        if (const kube::ObjectPtr metrics =
                metrics_of(*target.def, object->tree()->get_object(), usage))
            items.push_back(store::ObjectText::of(metrics));
    page.items = std::move(items);
    co_return listed(*target.def, std::move(page));
}

Task<StatusResult<Reply>> Verbs::list(Target target, kube::Request request) {
    CO_TRY(const ListQuery query, parse_list_query(request));
    CO_TRY_VOID(co_await wait_for_revision(query.resource_version.value_or(0)));
    const ShowAll show = shown_by_webhook(state_, target.def);
    CO_TRY(ListPage page, co_await list_objects(state_.cache, target, query, show));
    if (show) {
        CO_TRY(page.items, co_await show(std::move(page.items)));
    }
    co_return listed(*target.def, std::move(page));
}

Task<StatusResult<Reply>> Verbs::create(Target target, kube::Request request, Requester requester) {
    if (!target.is_collection()) co_return method_not_allowed();
    if (target.type().namespaced && target.namespace_.empty()) co_return method_not_allowed();
    CO_TRY(WriteQuery query, parse_write_query(request, "CreateOptions"));
    query.requester = std::move(requester);
    const DefPtr def = target.def;
    CO_TRY(std::vector<std::string> warnings, check_duplicates(*def, request, query));
    CO_TRY(WriteOutcome outcome,
           co_await writer_.create(std::move(target), std::move(request.body), query));
    co_return co_await written(state_, def, std::move(outcome), std::move(warnings));
}

Task<StatusResult<Reply>> Verbs::change(Target target, kube::Request request, Requester requester) {
    if (target.is_collection()) co_return method_not_allowed();
    const bool put = request.method == kube::Method::kPut;
    if (!put) {
        if (request.body == nullptr)
            co_return bad_request("error decoding patch: the body is empty");
        CO_TRY_VOID(check_patch_type(*target.def, request.content_type, *request.body,
                                     state_.options.manage_fields));
    }
    CO_TRY(WriteQuery query, parse_write_query(request, put ? "UpdateOptions" : "PatchOptions"));
    query.requester = std::move(requester);
    const DefPtr def = target.def;
    CO_TRY(std::vector<std::string> warnings, check_duplicates(*def, request, query));
    StatusResult<WriteOutcome> outcome = method_not_allowed();
    if (put)
        outcome = co_await writer_.update(std::move(target), std::move(request.body), query);
    else
        outcome = co_await writer_.patch(std::move(target), request.content_type,
                                         std::move(request.body), query);
    if (!outcome) co_return std::move(outcome.error());
    co_return co_await written(state_, def, *std::move(outcome), std::move(warnings));
}

Task<StatusResult<Reply>> Verbs::remove(Target target, kube::Request request, Requester requester) {
    if (!target.subresource.empty()) co_return method_not_allowed();
    if (target.is_collection())
        co_return co_await remove_collection(std::move(target), std::move(request),
                                             std::move(requester));
    if (is_undeletable(target))
        co_return forbidden(target.type(), target.name, "this namespace may not be deleted");
    CO_TRY(DeleteQuery query, parse_delete_query(request));
    query.requester = std::move(requester);
    const DefPtr def = target.def;
    CO_TRY(WriteOutcome outcome, co_await writer_.remove(std::move(target), query));
    Reply reply;
    if (outcome.removed && !def->returns_deleted) {
        reply.body = success_status(*def, outcome.object->tree()->get_object());
    } else {
        CO_TRY(reply.object, co_await show(state_, def, std::move(outcome.object)));
    }
    co_return reply;
}

Task<StatusResult<Reply>> Verbs::remove_collection(Target target, kube::Request request,
                                                   Requester requester) {
    const bool all_namespaces = target.type().namespaced && target.namespace_.empty();
    if (all_namespaces || target.def->storage_key() == "namespaces") co_return method_not_allowed();
    CO_TRY(DeleteQuery query, parse_delete_query(request));
    query.requester = std::move(requester);
    CO_TRY(const ListQuery chosen, parse_list_query(request));
    CO_TRY(ListPage page, co_await list_objects(state_.cache, target, chosen,
                                                shown_by_webhook(state_, target.def)));
    std::vector<store::ObjectTextPtr> deleted;
    for (const store::ObjectTextPtr& item : page.items) {
        Target one = target;
        one.namespace_ = namespace_of(*item);
        one.name = name_of(*item);
        StatusResult<WriteOutcome> outcome = co_await writer_.remove(std::move(one), query);
        if (outcome)
            deleted.push_back(std::move(outcome->object));
        else if (outcome.error().error.code() != Code::kNotFound)
            co_return std::move(outcome.error());
        if (deleted.size() % kDeletionsPerTurn == 0 || turn_is_long())
            co_await asio::post(state_.executor, asio::use_awaitable);
    }
    CO_TRY(page.items, co_await show_all(state_, target.def, std::move(deleted)));
    page.revision = state_.cache.revision();
    co_return listed(*target.def, std::move(page));
}

Task<StatusResult<Reply>> Verbs::scale(Target target, kube::Request request) {
    const DefPtr def = target.def;
    const bool get = request.method == kube::Method::kGet;
    if (!get && request.method != kube::Method::kPut && request.method != kube::Method::kPatch)
        co_return method_not_allowed();
    store::ObjectTextPtr object;
    if (get) {
        const CachedObject* found =
            state_.cache.find(def->storage_key(), target.namespace_, target.name);
        if (found == nullptr) co_return not_found(def->type, target.name);
        object = found->object;
    } else {
        if (request.body == nullptr) co_return bad_request("the request has no body");
        CO_TRY(const WriteQuery query,
               parse_write_query(request, request.method == kube::Method::kPut ? "UpdateOptions"
                                                                               : "PatchOptions"));
        const bool applies = request.method == kube::Method::kPatch &&
                             request.content_type == kube::ContentType::kApplyPatch;
        const Ownership owner = writer_.ownership(
            target, query, applies ? Ownership::Kind::kApplied : Ownership::Kind::kWrite);
        Writer::Change decide = [target, request, query,
                                 owner](const json::value& current) -> StatusResult<NextState> {
            if (owner.kind == Ownership::Kind::kApplied)
                return decide_applied_scale(target, current, *request.body, query, owner);
            TRY(const json::value proposed, proposed_scale(*target.def, current, request.method,
                                                           request.content_type, *request.body));
            return decide_scale(*target.def, current, proposed, request.method, owner);
        };
        CO_TRY(
            WriteOutcome outcome,
            co_await writer_.rewrite(def, target.namespace_, target.name, std::move(decide),
                                     {.dry_run = query.dry_run, .pure = true, .ownership = owner}));
        object = std::move(outcome.object);
    }
    CO_TRY(object, co_await show(state_, def, std::move(object)));
    Reply reply;
    reply.body = std::make_shared<const json::value>(scale_of(*def, object->tree()->get_object()));
    co_return reply;
}

Task<StatusResult<Reply>> Verbs::bind(Target target, kube::Request request) {
    if (request.method != kube::Method::kPost) co_return method_not_allowed();
    if (request.body == nullptr) co_return bad_request("the request has no body");
    CO_TRY(const WriteQuery query, parse_write_query(request, "CreateOptions"));
    Writer::Change decide = [def = target.def, body = request.body,
                             now = state_.clock.wall_now()](const json::value& current) {
        return decide_binding(*def, current, *body, now);
    };
    CO_TRY_VOID(co_await writer_.rewrite(target.def, target.namespace_, target.name,
                                         std::move(decide),
                                         {.dry_run = query.dry_run, .pure = true}));
    co_return created_status();
}

Task<StatusResult<Reply>> Verbs::finalize(Target target, kube::Request request) {
    if (request.method != kube::Method::kPut) co_return method_not_allowed();
    if (request.body == nullptr) co_return bad_request("the request has no body");
    CO_TRY(const WriteQuery query, parse_write_query(request, "UpdateOptions"));
    Writer::Change decide = [def = target.def, body = request.body](const json::value& current) {
        return decide_finalize(*def, current, *body);
    };
    CO_TRY(WriteOutcome outcome,
           co_await writer_.rewrite(target.def, target.namespace_, target.name, std::move(decide),
                                    {.dry_run = query.dry_run, .pure = true}));
    co_return co_await written(state_, target.def, std::move(outcome));
}

Task<StatusResult<std::unique_ptr<Watcher>>> Verbs::watch(Target target, kube::Request request) {
    if (!target.def->stored) co_return method_not_allowed();
    if (target.def->is_metrics) co_return method_not_allowed();
    if (!target.is_collection())
        co_return bad_request(
            "a single object is watched through its collection, with the field "
            "selector metadata.name=NAME");
    CO_TRY(const WatchQuery query, parse_watch_query(request));
    CO_TRY(Selection selection, Selection::make(*target.def, target.namespace_,
                                                query.label_selector, query.field_selector));
    if (query.send_initial_events.value_or(false))
        CO_TRY_VOID(co_await wait_for_revision(query.resource_version.value_or(0)));
    std::unique_ptr<Watcher> watcher = state_.cache.watch(target.def, std::move(selection), query);
    if (target.def->webhook_conversion != nullptr)
        watcher->show_by([this, def = target.def](store::ObjectTextPtr object) {
            return conversions_.show(def, std::move(object));
        });
    co_return watcher;
}

Task<StatusResult<std::unique_ptr<kube::TextStream>>> Verbs::log(Target target,
                                                                 kube::Request request) {
    if (target.subresource != "log" || request.method != kube::Method::kGet)
        co_return method_not_allowed();
    const CachedObject* found =
        state_.cache.find(target.def->storage_key(), target.namespace_, target.name);
    if (found == nullptr) co_return not_found(target.type(), target.name);
    const kube::ObjectPtr pod = found->tree();
    CO_TRY(kube::LogOptions options,
           log_options(request, pod->get_object(), state_.clock.wall_now()));
    // Nothing has run yet, which is not an error.
    if (node_of(pod->get_object()).empty()) co_return std::make_unique<EmptyText>();
    if (state_.node == nullptr)
        co_return unavailable(fmt::format(
            "the log of pod {} can't be read: this API server has no connection to node {}",
            target.name, node_of(pod->get_object())));
    Result<std::unique_ptr<kube::TextStream>> stream =
        co_await state_.node->logs(target.namespace_, target.name, std::move(options));
    if (!stream) co_return std::move(stream.error());
    co_return *std::move(stream);
}

}  // namespace muster::apiserver
