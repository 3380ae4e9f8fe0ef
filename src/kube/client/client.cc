#include "kube/client/client.h"

#include <boost/json/value.hpp>

#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"

namespace muster::kube {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

void put(Query& query, std::string_view key, std::string value) {
    if (!value.empty()) query.emplace_back(key, std::move(value));
}
void put(Query& query, std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) query.emplace_back(key, std::to_string(*value));
}
void put_flag(Query& query, std::string_view key, bool value) {
    if (value) query.emplace_back(key, "true");
}

Query write_query(const WriteOptions& options, const std::string& default_manager) {
    Query query;
    if (options.dry_run) put(query, "dryRun", std::string("All"));
    switch (options.field_validation) {
        case FieldValidation::kIgnore:
            put(query, "fieldValidation", std::string("Ignore"));
            break;
        case FieldValidation::kWarn:
            break;  // the server's default
        case FieldValidation::kStrict:
            put(query, "fieldValidation", std::string("Strict"));
            break;
    }
    put(query, "fieldManager",
        options.field_manager.empty() ? default_manager : options.field_manager);
    return query;
}

std::string_view propagation_name(Propagation propagation) {
    switch (propagation) {
        case Propagation::kDefault:
            return "";
        case Propagation::kBackground:
            return "Background";
        case Propagation::kForeground:
            return "Foreground";
        case Propagation::kOrphan:
            return "Orphan";
    }
    return "";
}

/// Null for the server's defaults.
ObjectPtr delete_body(const DeleteOptions& options) {
    json::object body;
    if (options.grace_period_seconds)
        body.emplace("gracePeriodSeconds", *options.grace_period_seconds);
    if (options.propagation != Propagation::kDefault)
        body.emplace("propagationPolicy", propagation_name(options.propagation));
    json::object preconditions;
    if (!options.precondition_uid.empty()) preconditions.emplace("uid", options.precondition_uid);
    if (!options.precondition_resource_version.empty())
        preconditions.emplace("resourceVersion", options.precondition_resource_version);
    if (!preconditions.empty()) body.emplace("preconditions", std::move(preconditions));
    if (body.empty()) return nullptr;
    body.emplace("kind", "DeleteOptions");
    body.emplace("apiVersion", "v1");
    return std::make_shared<const json::value>(std::move(body));
}

Error no_name(const ResourceType& type) {
    return Error(Code::kBadRequest, type.qualified() + ": the name of the object is empty");
}

/// A success, or the failure in the response.
Result<Response> succeeded(Result<Response> result) {
    if (!result || (result->status >= 200 && result->status < 300)) return result;
    static const json::value nothing;
    return error_from_status(result->status, result->body ? *result->body : nothing);
}

/// A success with an object.
Result<Response> answered(Result<Response> result) {
    TRY(Response response, succeeded(std::move(result)));
    if (response.body == nullptr) return Error(Code::kInternal, "the server's answer has no body");
    return response;
}

Result<ObjectPtr> object_of(Result<Response> result) {
    TRY(Response response, answered(std::move(result)));
    return std::move(response.body);
}

Result<Written> written(Result<Response> result) {
    TRY(Response response, answered(std::move(result)));
    return Written{std::move(response.body), std::move(response.warnings)};
}

/// The item as an object of its own. Real servers omit kind and apiVersion in the items of built-in
/// lists; if they are there, the item shares the list's memory.
ObjectPtr item_of(const ObjectPtr& list, const json::value& item, const ResourceType& type) {
    const json::object& object = item.get_object();
    if (object.contains("kind") && object.contains("apiVersion")) return ObjectPtr(list, &item);
    json::object copy = object;
    copy["apiVersion"] = type.api_version();
    copy["kind"] = type.kind;
    return std::make_shared<const json::value>(std::move(copy));
}

Result<ListResult> list_of(const ObjectPtr& body, const ResourceType& type) {
    auto malformed = [&](std::string_view what) {
        return Error(Code::kInternal,
                     "list of " + type.qualified() + ": the server's answer " + std::string(what));
    };
    const json::object* list = body->if_object();
    if (list == nullptr) return malformed("is not an object");
    ListResult result;
    if (const json::value* meta = list->if_contains("metadata"); meta && meta->is_object()) {
        result.resource_version = string_at(meta->get_object(), "resourceVersion");
        result.continue_ = string_at(meta->get_object(), "continue");
    }
    const json::value* items = list->if_contains("items");
    if (items == nullptr || items->is_null()) return result;  // Go writes an empty list as null
    if (!items->is_array()) return malformed("has items that are not a list");
    result.items.reserve(items->get_array().size());
    for (const json::value& item : items->get_array()) {
        if (!item.is_object()) return malformed("has an item that is not an object");
        result.items.push_back(item_of(body, item, type));
    }
    return result;
}

}  // namespace

bool ends_initial_events(const json::value& bookmark) {
    boost::system::error_code missing;
    const json::value* found =
        bookmark.find_pointer("/metadata/annotations/k8s.io~1initial-events-end", missing);
    return found != nullptr && *found == "true";
}

Client::Client(Transport& transport, std::string user_agent, std::string flow)
    : transport_(transport), user_agent_(std::move(user_agent)), flow_(std::move(flow)) {}

Request Client::request(Method method, std::string path) const {
    Request request;
    request.method = method;
    request.path = std::move(path);
    request.user_agent = user_agent_;
    request.flow = flow_;
    return request;
}

Task<Result<ObjectPtr>> Client::get(ResourceType type, std::string ns, std::string name) {
    if (name.empty()) co_return no_name(type);
    Request get = request(Method::kGet, type.path(ns, name));
    Result<Response> result = co_await transport_.call(std::move(get));
    co_return object_of(std::move(result));
}

Task<Result<ListResult>> Client::list(ResourceType type, ListOptions options) {
    Request list = request(Method::kGet, type.path(options.namespace_));
    put(list.query, "labelSelector", std::move(options.label_selector));
    put(list.query, "fieldSelector", std::move(options.field_selector));
    put(list.query, "resourceVersion", std::move(options.resource_version));
    put(list.query, "continue", std::move(options.continue_));
    if (options.limit > 0) put(list.query, "limit", std::to_string(options.limit));
    list.items_apart = true;
    Result<Response> result = co_await transport_.call(std::move(list));
    std::vector<ObjectPtr> apart;
    if (result) apart = std::move(result->items);
    Result<ObjectPtr> body = object_of(std::move(result));
    if (!body) co_return std::move(body.error());
    Result<ListResult> listed = list_of(*body, type);
    if (listed && !apart.empty()) listed->items = std::move(apart);
    co_return listed;
}

Task<Result<std::unique_ptr<WatchStream>>> Client::watch(ResourceType type, WatchOptions options) {
    Request watch = request(Method::kGet, type.path(options.namespace_));
    put_flag(watch.query, "watch", true);
    put_flag(watch.query, "allowWatchBookmarks", options.bookmarks);
    put(watch.query, "labelSelector", std::move(options.label_selector));
    put(watch.query, "fieldSelector", std::move(options.field_selector));
    put(watch.query, "resourceVersion", std::move(options.resource_version));
    if (options.initial_events) {
        put_flag(watch.query, "sendInitialEvents", true);
        put(watch.query, "resourceVersionMatch", std::string("NotOlderThan"));
    }
    put(watch.query, "timeoutSeconds", options.timeout_seconds);
    Result<std::unique_ptr<WatchStream>> stream = co_await transport_.watch(std::move(watch));
    co_return stream;
}

Task<Result<Written>> Client::create(ResourceType type, std::string ns, json::value object,
                                     WriteOptions options) {
    Request post = request(Method::kPost, type.path(ns));
    post.query = write_query(options, {});
    post.body = std::make_shared<const json::value>(std::move(object));
    Result<Response> result = co_await transport_.call(std::move(post));
    co_return written(std::move(result));
}

Task<Result<void>> Client::create_unread(ResourceType type, std::string ns, json::value object) {
    Request post = request(Method::kPost, type.path(ns));
    post.query = write_query({}, {});
    post.body = std::make_shared<const json::value>(std::move(object));
    post.body_unread = true;
    const Result<Response> result = succeeded(co_await transport_.call(std::move(post)));
    if (!result) co_return result.error();
    co_return Result<void>();
}

Task<Result<Written>> Client::update(ResourceType type, std::string ns, std::string name,
                                     json::value object, std::string subresource,
                                     WriteOptions options) {
    if (name.empty()) co_return no_name(type);
    Request put = request(Method::kPut, type.path(ns, name, subresource));
    put.query = write_query(options, {});
    put.body = std::make_shared<const json::value>(std::move(object));
    Result<Response> result = co_await transport_.call(std::move(put));
    co_return written(std::move(result));
}

Task<Result<Written>> Client::patch(ResourceType type, std::string ns, std::string name,
                                    ContentType patch_type, json::value patch,
                                    std::string subresource, WriteOptions options) {
    if (name.empty()) co_return no_name(type);
    Request request = this->request(Method::kPatch, type.path(ns, name, subresource));
    // Server-side apply is refused without a manager; the other patches accept one.
    request.query =
        write_query(options, patch_type == ContentType::kApplyPatch ? user_agent_ : std::string());
    request.content_type = patch_type;
    request.body = std::make_shared<const json::value>(std::move(patch));
    Result<Response> result = co_await transport_.call(std::move(request));
    co_return written(std::move(result));
}

Task<Result<void>> Client::remove(ResourceType type, std::string ns, std::string name,
                                  DeleteOptions options) {
    if (name.empty()) co_return no_name(type);
    Request remove = request(Method::kDelete, type.path(ns, name));
    remove.body = delete_body(options);
    remove.body_unread = true;
    const Result<Response> result = succeeded(co_await transport_.call(std::move(remove)));
    if (!result) co_return result.error();
    co_return Result<void>();
}

Task<Result<Written>> Client::create_subresource(ResourceType type, std::string ns,
                                                 std::string name, std::string subresource,
                                                 json::value object) {
    if (name.empty()) co_return no_name(type);
    Request post = request(Method::kPost, type.path(ns, name, subresource));
    post.body = std::make_shared<const json::value>(std::move(object));
    Result<Response> result = co_await transport_.call(std::move(post));
    co_return written(std::move(result));
}

Task<Result<std::unique_ptr<TextStream>>> Client::logs(std::string ns, std::string pod,
                                                       LogOptions options) {
    if (pod.empty()) co_return no_name(types::kPods);
    Request logs = request(Method::kGet, types::kPods.path(ns, pod, "log"));
    put(logs.query, "container", std::move(options.container));
    put_flag(logs.query, "follow", options.follow);
    put_flag(logs.query, "previous", options.previous);
    put_flag(logs.query, "timestamps", options.timestamps);
    put(logs.query, "tailLines", options.tail_lines);
    put(logs.query, "limitBytes", options.limit_bytes);
    put(logs.query, "sinceSeconds", options.since_seconds);
    put(logs.query, "sinceTime", std::move(options.since_time));
    Result<std::unique_ptr<TextStream>> stream = co_await transport_.stream_text(std::move(logs));
    co_return stream;
}

}  // namespace muster::kube
