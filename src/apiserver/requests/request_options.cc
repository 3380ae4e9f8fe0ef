#include "apiserver/requests/request_options.h"

#include <iterator>

#include "apiserver/objects/field_errors.h"
#include "apiserver/objects/json_access.h"
#include "base/lower_case.h"
#include "base/parse_number.h"
#include "base/utf8.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxFieldManagerBytes = 128;

bool has_query(const kube::Request& request, std::string_view key) {
    return std::ranges::any_of(request.query, [&](const auto& q) { return q.first == key; });
}

void check_dry_run(std::string_view value, bool& dry_run, FieldErrors& field_errors) {
    if (value.empty()) return;
    if (value == "All")
        dry_run = true;
    else
        field_errors.push_back(not_supported("dryRun", value, {"All"}));
}

StatusResult<std::optional<std::uint64_t>> parse_revision(std::string_view text) {
    if (text.empty()) return std::optional<std::uint64_t>();
    const auto revision = parse_number<std::uint64_t>(text);
    if (!revision) {
        return bad_request(
            fmt::format("invalid resource version \"{}\": must be a decimal number", text));
    }
    return revision;
}

/// A number of the query; if it can't be read, in the words of Go's parser.
StatusResult<std::optional<std::int64_t>> number_of(const kube::Request& request,
                                                    std::string_view key) {
    if (!has_query(request, key)) return std::optional<std::int64_t>();
    const std::string_view text = request.query_value(key);
    const auto number = parse_number<std::int64_t>(text);
    if (number) return number;
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    const bool large =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    return bad_request(fmt::format("strconv.ParseInt: parsing {}: {}",
                                   json::serialize(json::value(text)),
                                   large ? "value out of range" : "invalid syntax"));
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

std::string manager_of(const kube::Request& request) {
    std::string_view manager = request.query_value("fieldManager");
    if (manager.empty()) {
        manager = request.user_agent;
        manager = cut_utf8(manager.substr(0, manager.find('/')), kMaxFieldManagerBytes);
    }
    std::string name;
    std::ranges::remove_copy_if(manager, std::back_inserter(name), is_control);
    return name.empty() ? "unknown" : name;
}

void check_propagation(const DeleteQuery& query, FieldErrors& field_errors) {
    if (query.propagation.empty() || query.propagation == "Background" ||
        query.propagation == "Foreground" || query.propagation == "Orphan")
        return;
    field_errors.push_back(not_supported("propagationPolicy", query.propagation,
                                         {"Foreground", "Background", "Orphan"}));
}

void set_orphan(bool orphan, DeleteQuery& query, FieldErrors& field_errors) {
    if (!query.propagation.empty()) {
        field_errors.push_back(
            invalid_value("propagationPolicy", json::value(query.propagation),
                          "orphanDependents and deletionPropagation cannot be both set"));
        return;
    }
    query.propagation = orphan ? "Orphan" : "Background";
}

void read_delete_body(const json::object& body, DeleteQuery& query, FieldErrors& field_errors) {
    query.grace_period_seconds = int_at(body, "gracePeriodSeconds");
    query.propagation = string_at(body, "propagationPolicy");
    if (const json::value* orphan = body.if_contains("orphanDependents");
        orphan != nullptr && orphan->is_bool())
        set_orphan(orphan->get_bool(), query, field_errors);
    if (const json::object* wanted = object_at(body, "preconditions")) {
        query.precondition_uid = string_at(*wanted, "uid");
        query.precondition_resource_version = string_at(*wanted, "resourceVersion");
    }
    if (const json::array* dry_run = array_at(body, "dryRun"))
        for (const json::value& value : *dry_run)
            check_dry_run(value.is_string() ? std::string_view(value.get_string()) : "?",
                          query.dry_run, field_errors);
}

}  // namespace

bool query_flag(const kube::Request& request, std::string_view key) {
    if (!has_query(request, key)) return false;
    const std::string value = lower_case(request.query_value(key));
    return value != "0" && value != "false";
}

StatusResult<WriteQuery> parse_write_query(const kube::Request& request,
                                           std::string_view options_kind) {
    WriteQuery query;
    FieldErrors field_errors;
    check_dry_run(request.query_value("dryRun"), query.dry_run, field_errors);
    const std::string_view validation = request.query_value("fieldValidation");
    if (validation == "Ignore")
        query.field_validation = kube::FieldValidation::kIgnore;
    else if (validation == "Strict")
        query.field_validation = kube::FieldValidation::kStrict;
    else if (!validation.empty() && validation != "Warn")
        field_errors.push_back(
            not_supported("fieldValidation", validation, {"", "Ignore", "Strict", "Warn"}));
    const std::string_view manager = request.query_value("fieldManager");
    const bool apply =
        options_kind == "PatchOptions" && request.content_type == kube::ContentType::kApplyPatch;
    if (manager.empty() && apply)
        field_errors.push_back(required("fieldManager", "is required for apply patch"));
    else if (manager.size() > kMaxFieldManagerBytes)
        field_errors.push_back(too_long("fieldManager", kMaxFieldManagerBytes));
    else if (std::ranges::any_of(manager, is_control))
        field_errors.push_back(invalid_value("fieldManager", json::value(manager),
                                             "invalid character: should be printable"));
    query.manager = manager_of(request);
    if (!is_utf8(query.manager))
        return bad_request(
            "the field manager, which is the query's fieldManager or the beginning of the "
            "User-Agent, has bytes that are not UTF-8");
    if (options_kind == "PatchOptions" && has_query(request, "force") && !apply)
        field_errors.push_back(
            forbidden_field("force", "may not be specified for non-apply patch"));
    query.force = query_flag(request, "force");
    if (!field_errors.empty()) return invalid_options(options_kind, std::move(field_errors));
    return query;
}

StatusResult<ListQuery> parse_list_query(const kube::Request& request) {
    ListQuery query;
    query.label_selector = request.query_value("labelSelector");
    query.field_selector = request.query_value("fieldSelector");
    query.continue_ = request.query_value("continue");
    query.resource_version_match = request.query_value("resourceVersionMatch");
    TRY(const auto limit, number_of(request, "limit"));
    if (limit && *limit > 0) query.limit = static_cast<std::size_t>(*limit);
    TRY_VOID(number_of(request, "timeoutSeconds"));
    TRY(query.resource_version, parse_revision(request.query_value("resourceVersion")));
    FieldErrors field_errors;
    const std::string& match = query.resource_version_match;
    if (has_query(request, "sendInitialEvents"))
        field_errors.push_back(
            forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    if (!match.empty()) {
        if (!query.resource_version)
            field_errors.push_back(
                forbidden_field("resourceVersionMatch",
                                "resourceVersionMatch is forbidden unless resourceVersion is "
                                "provided"));
        if (!query.continue_.empty())
            field_errors.push_back(
                forbidden_field("resourceVersionMatch",
                                "resourceVersionMatch is forbidden when continue is provided"));
        if (match != "Exact" && match != "NotOlderThan")
            field_errors.push_back(
                not_supported("resourceVersionMatch", match, {"Exact", "NotOlderThan", ""}));
        if (match == "Exact" && query.resource_version == 0)
            field_errors.push_back(
                forbidden_field("resourceVersionMatch",
                                "resourceVersionMatch \"exact\" is forbidden for "
                                "resourceVersion \"0\""));
    }
    if (!field_errors.empty()) return invalid_options("ListOptions", std::move(field_errors));
    return query;
}

StatusResult<WatchQuery> parse_watch_query(const kube::Request& request) {
    WatchQuery query;
    query.label_selector = request.query_value("labelSelector");
    query.field_selector = request.query_value("fieldSelector");
    query.bookmarks = query_flag(request, "allowWatchBookmarks");
    if (has_query(request, "sendInitialEvents"))
        query.send_initial_events = query_flag(request, "sendInitialEvents");
    const std::string_view match = request.query_value("resourceVersionMatch");
    FieldErrors field_errors;
    if (query.send_initial_events) {
        if (match != "NotOlderThan" && (*query.send_initial_events || !match.empty()))
            field_errors.push_back(forbidden_field(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    } else if (!match.empty()) {
        field_errors.push_back(forbidden_field("resourceVersionMatch",
                                               "resourceVersionMatch is forbidden for watch unless "
                                               "sendInitialEvents is provided"));
    }
    if (!field_errors.empty()) return invalid_options("ListOptions", std::move(field_errors));
    TRY(query.timeout_seconds, number_of(request, "timeoutSeconds"));
    StatusResult<std::optional<std::uint64_t>> revision =
        parse_revision(request.query_value("resourceVersion"));
    // A real server answers 500 here and 400 for a list.
    if (!revision) return internal_error(revision.error().error.message());
    query.resource_version = *revision;
    return query;
}

StatusResult<DeleteQuery> parse_delete_query(const kube::Request& request) {
    DeleteQuery query;
    FieldErrors field_errors;
    const json::object* body = request.body == nullptr ? nullptr : request.body->if_object();
    if (request.body != nullptr && !request.body->is_null() && body == nullptr)
        return bad_request("the body of the request must be a DeleteOptions object");
    if (body != nullptr && !body->empty()) {
        read_delete_body(*body, query, field_errors);
    } else {
        TRY(query.grace_period_seconds, number_of(request, "gracePeriodSeconds"));
        query.propagation = request.query_value("propagationPolicy");
        if (has_query(request, "orphanDependents"))
            set_orphan(query_flag(request, "orphanDependents"), query, field_errors);
        check_dry_run(request.query_value("dryRun"), query.dry_run, field_errors);
    }
    check_propagation(query, field_errors);
    if (!field_errors.empty()) return invalid_options("DeleteOptions", std::move(field_errors));
    return query;
}

}  // namespace muster::apiserver
