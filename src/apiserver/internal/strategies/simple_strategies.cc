#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/base64.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMaxDataBytes = 1024 * 1024;
constexpr std::size_t kMaxKeyBytes = 253;

// Namespaces.

void label_namespace(json::object& object) {
    json::object& meta = ensure_object(object, "metadata");
    const std::string name(string_at(meta, "name"));
    if (!name.empty()) ensure_object(meta, "labels")["kubernetes.io/metadata.name"] = name;
}

void activate_namespace(json::object& object, WallTime) {
    json::array& finalizers = ensure_object(object, "spec")["finalizers"].emplace_array();
    finalizers.emplace_back("kubernetes");
    object["status"] = {{"phase", "Active"}};
}

void terminate_namespace(json::object& object, WallTime) {
    ensure_object(object, "status")["phase"] = "Terminating";
}

void keep_namespace_finalizers(json::object& next, const json::object& current) {
    const json::object* spec = object_at(current, "spec");
    if (spec != nullptr) next["spec"] = *spec;
}

// Config maps and secrets.

bool is_data_key(std::string_view key) {
    if (key.empty() || key.size() > kMaxKeyBytes || key == "." || key.starts_with(".."))
        return false;
    return std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

std::size_t check_data(const json::object& object, std::string_view field, bool encoded,
                       FieldErrors& field_errors) {
    std::size_t bytes = 0;
    const json::object* data = object_at(object, field);
    if (data == nullptr) return bytes;
    for (const auto& entry : *data) {
        const std::string path = fmt::format("{}[{}]", field, std::string_view(entry.key()));
        if (!is_data_key(entry.key()))
            field_errors.push_back(invalid_value(
                path, json::value(entry.key()),
                "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                "'[-._a-zA-Z0-9]+')"));
        if (const json::string* text = entry.value().if_string())
            bytes += encoded ? text->size() / 4 * 3 : text->size();
    }
    return bytes;
}

void validate_config_map(const json::object& object, FieldErrors& field_errors) {
    std::size_t bytes = check_data(object, "data", false, field_errors);
    bytes += check_data(object, "binaryData", true, field_errors);
    if (bytes > kMaxDataBytes) field_errors.push_back(too_long("", kMaxDataBytes));
    const json::object* data = object_at(object, "data");
    const json::object* binary = object_at(object, "binaryData");
    if (data == nullptr || binary == nullptr) return;
    for (const auto& entry : *binary)
        if (data->contains(entry.key()))
            field_errors.push_back(
                invalid_value(fmt::format("data[{}]", std::string_view(entry.key())),
                              json::value(entry.key()), "duplicate of key present in binaryData"));
}

/// `immutable: true` freezes the data and itself.
void check_frozen(const json::object& next, const json::object& current,
                  std::initializer_list<std::string_view> fields, FieldErrors& field_errors) {
    if (!bool_at(current, "immutable")) return;
    if (!bool_at(next, "immutable"))
        field_errors.push_back(
            forbidden_field("immutable", "field is immutable when `immutable` is set"));
    for (std::string_view field : fields) {
        const json::object* before = object_at(current, field);
        const json::object* after = object_at(next, field);
        const bool same =
            before == nullptr || after == nullptr
                ? (before == nullptr || before->empty()) && (after == nullptr || after->empty())
                : kube::equal(*before, *after);
        if (!same)
            field_errors.push_back(
                forbidden_field(std::string(field), "field is immutable when `immutable` is set"));
    }
}

void validate_config_map_update(const json::object& next, const json::object& current,
                                FieldErrors& field_errors) {
    check_frozen(next, current, {"data", "binaryData"}, field_errors);
}

void set_secret_defaults(json::object& object) {
    set_default(object, "type", json::value("Opaque"));
    if (const json::object* plain = object_at(object, "stringData")) {
        json::object& data = ensure_object(object, "data");
        for (const auto& entry : *plain)
            if (const json::string* text = entry.value().if_string())
                data[entry.key()] = kube::base64_encode(std::string_view(*text));
    }
    object.erase("stringData");
}

void validate_secret(const json::object& object, FieldErrors& field_errors) {
    if (check_data(object, "data", true, field_errors) > kMaxDataBytes)
        field_errors.push_back(too_long("data", kMaxDataBytes));
}

void validate_secret_update(const json::object& next, const json::object& current,
                            FieldErrors& field_errors) {
    if (string_at(next, "type") != string_at(current, "type"))
        field_errors.push_back(
            invalid_value("type", json::value(string_at(next, "type")), "field is immutable"));
    check_frozen(next, current, {"data"}, field_errors);
}

// Leases.

void validate_lease(const json::object& object, FieldErrors& field_errors) {
    const json::object* spec = object_at(object, "spec");
    if (spec == nullptr) return;
    for (const char* key : {"leaseDurationSeconds"})
        if (const auto seconds = int_at(*spec, key); seconds && *seconds <= 0)
            field_errors.push_back(invalid_value(fmt::format("spec.{}", key), json::value(*seconds),
                                                 "must be greater than 0"));
    if (const auto count = int_at(*spec, "leaseTransitions"); count && *count < 0)
        field_errors.push_back(invalid_value("spec.leaseTransitions", json::value(*count),
                                             "must be greater than or equal to 0"));
}

}  // namespace

Strategy namespace_strategy() {
    return {.apply_defaults = label_namespace,
            .prepare_create = activate_namespace,
            .prepare_update = keep_namespace_finalizers,
            .prepare_delete = terminate_namespace};
}

Strategy config_map_strategy() {
    return {.validate = validate_config_map, .validate_update = validate_config_map_update};
}

Strategy secret_strategy() {
    return {.apply_defaults = set_secret_defaults,
            .validate = validate_secret,
            .validate_update = validate_secret_update};
}

Strategy lease_strategy() { return {.validate = validate_lease}; }

}  // namespace muster::apiserver
