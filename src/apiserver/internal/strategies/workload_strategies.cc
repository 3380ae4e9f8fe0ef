#include "apiserver/internal/strategies/workload_strategies.h"

#include "apiserver/internal/strategies/pod_defaults.h"
#include "apiserver/internal/strategies/pod_spec_validation.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

/// The value at the key, or null.
const json::value& value_of(const json::object& object, std::string_view key) {
    static const json::value kAbsent;
    const json::value* found = object.if_contains(key);
    return found == nullptr ? kAbsent : *found;
}

/// The object of the default update strategy, with its defaults.
json::object* rolling_update(json::object& spec, std::string_view key) {
    json::object& strategy = ensure_object(spec, key);
    if (string_at(strategy, "type").empty()) strategy["type"] = "RollingUpdate";
    if (string_at(strategy, "type") != "RollingUpdate") return nullptr;
    return &ensure_object(strategy, "rollingUpdate");
}

void set_deployment_defaults(json::object& deployment) {
    json::object& spec = ensure_object(deployment, "spec");
    set_default(spec, "replicas", json::value(1));
    if (json::object* rolling = rolling_update(spec, "strategy")) {
        set_default(*rolling, "maxUnavailable", json::value("25%"));
        set_default(*rolling, "maxSurge", json::value("25%"));
    }
    set_default(spec, "revisionHistoryLimit", json::value(10));
    set_default(spec, "progressDeadlineSeconds", json::value(600));
    set_template_defaults(ensure_object(spec, "template"));
}

void set_replica_set_defaults(json::object& set) {
    json::object& spec = ensure_object(set, "spec");
    set_default(spec, "replicas", json::value(1));
    set_template_defaults(ensure_object(spec, "template"));
}

void set_stateful_set_defaults(json::object& set) {
    json::object& spec = ensure_object(set, "spec");
    set_default(spec, "podManagementPolicy", json::value("OrderedReady"));
    if (json::object* rolling = rolling_update(spec, "updateStrategy"))
        set_default(*rolling, "partition", json::value(0));
    json::object& retention = ensure_object(spec, "persistentVolumeClaimRetentionPolicy");
    set_default(retention, "whenDeleted", json::value("Retain"));
    set_default(retention, "whenScaled", json::value("Retain"));
    set_default(spec, "replicas", json::value(1));
    set_default(spec, "revisionHistoryLimit", json::value(10));
    set_template_defaults(ensure_object(spec, "template"));
}

void set_daemon_set_defaults(json::object& set) {
    json::object& spec = ensure_object(set, "spec");
    if (json::object* rolling = rolling_update(spec, "updateStrategy")) {
        set_default(*rolling, "maxUnavailable", json::value(1));
        set_default(*rolling, "maxSurge", json::value(0));
    }
    set_default(spec, "revisionHistoryLimit", json::value(10));
    set_template_defaults(ensure_object(spec, "template"));
}

/// The selector and the labels of a replication controller are those of its template unless given.
void set_replication_controller_defaults(json::object& controller) {
    json::object& spec = ensure_object(controller, "spec");
    set_default(spec, "replicas", json::value(1));
    const json::object labels = child(child(child(spec, "template"), "metadata"), "labels");
    if (!labels.empty()) {
        if (child(spec, "selector").empty()) spec["selector"] = labels;
        json::object& meta = ensure_object(controller, "metadata");
        if (child(meta, "labels").empty()) meta["labels"] = labels;
    }
    if (json::object* pod_template = object_at(spec, "template"))
        set_template_defaults(*pod_template);
}

/// Pods that are kept running must always be restarted.
void check_lasting_template(const json::object& spec, std::string_view kind,
                            FieldErrors& field_errors) {
    check_template(spec, "spec", field_errors);
    const json::object& pod = child(child(spec, "template"), "spec");
    if (const std::string_view restart = string_at(pod, "restartPolicy"); restart != "Always")
        field_errors.push_back(
            not_supported("spec.template.spec.restartPolicy", restart, {"Always"}));
    if (pod.contains("activeDeadlineSeconds"))
        field_errors.push_back(
            forbidden_field("spec.template.spec.activeDeadlineSeconds",
                            fmt::format("activeDeadlineSeconds in {} is not Supported", kind)));
}

/// `kind`: its name in the messages of a real server.
void check_selector(const json::object& spec, std::string_view kind, FieldErrors& field_errors) {
    const json::object* selector = object_at(spec, "selector");
    if (selector == nullptr) {
        field_errors.push_back(required("spec.selector"));
        field_errors.push_back(
            invalid_value("spec.template.metadata.labels",
                          value_of(child(child(spec, "template"), "metadata"), "labels"),
                          "`selector` does not match template `labels`"));
        return;
    }
    const auto read = label_selector_of(selector);
    if (!read) {
        field_errors.push_back(
            invalid_value("spec.selector", json::value(*selector), read.error().message()));
        return;
    }
    if (read->empty())
        field_errors.push_back(
            invalid_value("spec.selector", json::value(*selector),
                          fmt::format("empty selector is invalid for {}", kind)));
    else
        check_selection(*read, spec, "spec", field_errors);
}

void validate_replicas_of(const json::object& object, std::string_view kind,
                          FieldErrors& field_errors) {
    const json::object& spec = child(object, "spec");
    check_not_negative(spec, "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit"},
                       field_errors);
    check_selector(spec, kind, field_errors);
}

/// How many pods may be missing or too many: a number or a share, and not both nothing.
void check_rolling_update(const json::object& rolling, const std::string& field,
                          FieldErrors& field_errors) {
    bool all_nothing = !rolling.empty();
    for (const char* key : {"maxUnavailable", "maxSurge"}) {
        const json::value* value = rolling.if_contains(key);
        if (value == nullptr) continue;
        const std::string at = fmt::format("{}.{}", field, key);
        if (const json::string* text = value->if_string()) {
            const std::string_view share = *text;
            const bool valid =
                share.size() > 1 && share.ends_with('%') &&
                share.substr(0, share.size() - 1).find_first_not_of("0123456789") == share.npos;
            if (!valid)
                field_errors.push_back(invalid_value(
                    at, *value,
                    "a valid percent string must be a numeric string followed by an ending '%' "
                    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"));
            all_nothing &= valid && share.find_first_not_of("0%") == share.npos;
        } else if (const std::int64_t* number = value->if_int64()) {
            if (*number < 0)
                field_errors.push_back(
                    invalid_value(at, *value, "must be greater than or equal to 0"));
            all_nothing &= *number == 0;
        }
    }
    if (all_nothing)
        field_errors.push_back(invalid_value(field + ".maxUnavailable", json::value(0),
                                             "may not be 0 when `maxSurge` is 0"));
}

void validate_deployment(const json::object& deployment, FieldErrors& field_errors) {
    const json::object& spec = child(deployment, "spec");
    validate_replicas_of(deployment, "deployment", field_errors);
    check_not_negative(spec, "spec", {"progressDeadlineSeconds"}, field_errors);
    check_lasting_template(spec, "ReplicaSet", field_errors);
    const std::string_view strategy = string_at(child(spec, "strategy"), "type");
    if (strategy != "Recreate" && strategy != "RollingUpdate")
        field_errors.push_back(
            not_supported("spec.strategy.type", strategy, {"Recreate", "RollingUpdate"}));
    if (const auto deadline = int_at(spec, "progressDeadlineSeconds");
        deadline && *deadline <= int_at(spec, "minReadySeconds").value_or(0))
        field_errors.push_back(invalid_value("spec.progressDeadlineSeconds", json::value(*deadline),
                                             "must be greater than minReadySeconds"));
    check_rolling_update(child(child(spec, "strategy"), "rollingUpdate"),
                         "spec.strategy.rollingUpdate", field_errors);
}

void validate_replica_set(const json::object& set, FieldErrors& field_errors) {
    validate_replicas_of(set, "deployment", field_errors);
    check_lasting_template(child(set, "spec"), "ReplicaSet", field_errors);
}

void validate_stateful_set(const json::object& set, FieldErrors& field_errors) {
    validate_replicas_of(set, "statefulset", field_errors);
    check_lasting_template(child(set, "spec"), "StatefulSet", field_errors);
}

void validate_daemon_set(const json::object& set, FieldErrors& field_errors) {
    validate_replicas_of(set, "daemonset", field_errors);
    check_lasting_template(child(set, "spec"), "DaemonSet", field_errors);
    check_rolling_update(child(child(child(set, "spec"), "updateStrategy"), "rollingUpdate"),
                         "spec.updateStrategy.rollingUpdate", field_errors);
}

void validate_replication_controller(const json::object& controller, FieldErrors& field_errors) {
    const json::object& spec = child(controller, "spec");
    check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, field_errors);
    const json::object& selector = child(spec, "selector");
    if (selector.empty()) field_errors.push_back(required("spec.selector"));
    if (object_at(spec, "template") == nullptr) {
        field_errors.push_back(required("spec.template"));
        return;
    }
    const json::object as_selector{{"matchLabels", selector}};
    if (const auto read = label_selector_of(&as_selector); read && !read->empty())
        check_selection(*read, spec, "spec", field_errors);
    check_lasting_template(spec, "ReplicationController", field_errors);
}

void keep_selector(const json::object& next, const json::object& current,
                   FieldErrors& field_errors) {
    check_immutable(child(next, "spec"), child(current, "spec"), "spec", {"selector"},
                    field_errors);
}

void validate_stateful_set_update(const json::object& next, const json::object& current,
                                  FieldErrors& field_errors) {
    json::object rest = child(next, "spec");
    const json::object& before = child(current, "spec");
    for (const char* key :
         {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
        if (const json::value* stored = before.if_contains(key))
            rest[key] = *stored;
        else
            rest.erase(key);
    }
    if (!kube::equal(rest, before))
        field_errors.push_back(forbidden_field(
            "spec",
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
            "'minReadySeconds' are forbidden"));
}

}  // namespace

void check_not_negative(const json::object& spec, const std::string& in,
                        std::initializer_list<std::string_view> keys, FieldErrors& field_errors) {
    for (const std::string_view key : keys)
        if (const auto number = int_at(spec, key); number && *number < 0)
            field_errors.push_back(invalid_value(fmt::format("{}.{}", in, key),
                                                 json::value(*number),
                                                 "must be greater than or equal to 0"));
}

void check_immutable(const json::object& next, const json::object& current, const std::string& in,
                     std::initializer_list<std::string_view> keys, FieldErrors& field_errors) {
    for (const std::string_view key : keys)
        if (!kube::equal(value_of(next, key), value_of(current, key)))
            field_errors.push_back(
                invalid_value(in.empty() ? std::string(key) : fmt::format("{}.{}", in, key),
                              value_of(next, key), "field is immutable"));
}

void check_selection(const kube::LabelSelector& selector, const json::object& spec,
                     const std::string& in, FieldErrors& field_errors) {
    const json::object& meta = child(child(spec, "template"), "metadata");
    if (!matches_labels(selector, object_at(meta, "labels")))
        field_errors.push_back(invalid_value(in + ".template.metadata.labels",
                                             value_of(meta, "labels"),
                                             "`selector` does not match template `labels`"));
}

void check_template(const json::object& spec, const std::string& in, FieldErrors& field_errors) {
    check_pod_spec(child(child(spec, "template"), "spec"),
                   in.empty() ? "template.spec" : in + ".template.spec", field_errors);
}

Strategy deployment_strategy() {
    return {
        .apply_defaults = set_deployment_defaults,
        .prepare_create = [](json::object& object, WallTime) { object["status"].emplace_object(); },
        .validate = validate_deployment,
        .validate_update = keep_selector};
}

Strategy replica_set_strategy() {
    return {.apply_defaults = set_replica_set_defaults,
            .prepare_create = [](json::object& object,
                                 WallTime) { object["status"] = {{"replicas", 0}}; },
            .validate = validate_replica_set,
            .validate_update = keep_selector};
}

Strategy stateful_set_strategy() {
    return {.apply_defaults = set_stateful_set_defaults,
            .prepare_create =
                [](json::object& object, WallTime) {
                    object["status"] = {{"replicas", 0}, {"availableReplicas", 0}};
                },
            .validate = validate_stateful_set,
            .validate_update = validate_stateful_set_update};
}

Strategy daemon_set_strategy() {
    return {.apply_defaults = set_daemon_set_defaults,
            .prepare_create =
                [](json::object& object, WallTime) {
                    object["status"] = {{"currentNumberScheduled", 0},
                                        {"numberMisscheduled", 0},
                                        {"desiredNumberScheduled", 0},
                                        {"numberReady", 0}};
                },
            .validate = validate_daemon_set,
            .validate_update = keep_selector};
}

Strategy replication_controller_strategy() {
    return {.apply_defaults = set_replication_controller_defaults,
            .prepare_create = [](json::object& object,
                                 WallTime) { object["status"] = {{"replicas", 0}}; },
            .validate = validate_replication_controller};
}

Strategy pod_template_strategy() {
    return {
        .apply_defaults =
            [](json::object& object) { set_template_defaults(ensure_object(object, "template")); },
        .validate = [](const json::object& object,
                       FieldErrors& field_errors) { check_template(object, "", field_errors); }};
}

}  // namespace muster::apiserver
