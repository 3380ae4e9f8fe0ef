#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

namespace {
std::string with_detail(std::string text, std::string_view detail) {
    if (!detail.empty()) {
        text += ": ";
        text += detail;
    }
    return text;
}
}  // namespace

Cause required(std::string field, std::string_view detail) {
    return {"FieldValueRequired", with_detail("Required value", detail), std::move(field)};
}

Cause invalid_value(std::string field, const json::value& value, std::string_view detail) {
    return {"FieldValueInvalid", with_detail("Invalid value: " + json::serialize(value), detail),
            std::move(field)};
}

Cause not_supported(std::string field, std::string_view value,
                    const std::vector<std::string_view>& supported) {
    std::string text =
        "Unsupported value: " + json::serialize(json::value(value)) + ": supported values: ";
    for (std::size_t i = 0; i < supported.size(); ++i) {
        if (i > 0) text += ", ";
        text += '"';
        text += supported[i];
        text += '"';
    }
    return {"FieldValueNotSupported", std::move(text), std::move(field)};
}

Cause forbidden_field(std::string field, std::string_view detail) {
    return {"FieldValueForbidden", with_detail("Forbidden", detail), std::move(field)};
}

Cause duplicate(std::string field, const json::value& value) {
    return {"FieldValueDuplicate", "Duplicate value: " + json::serialize(value), std::move(field)};
}

Cause not_found_value(std::string field, const json::value& value) {
    return {"FieldValueNotFound", "Not found: " + json::serialize(value), std::move(field)};
}

Cause too_long(std::string field, std::size_t max_bytes) {
    return {"FieldValueTooLong", fmt::format("Too long: may not be more than {} bytes", max_bytes),
            std::move(field)};
}

Cause too_many(std::string field, std::size_t items, std::size_t max_items) {
    return {"FieldValueTooMany",
            fmt::format("Too many: {}: must have at most {} items", items, max_items),
            std::move(field)};
}

}  // namespace muster::apiserver
