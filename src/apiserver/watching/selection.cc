#include "apiserver/watching/selection.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/objects/text_fields.h"

namespace muster::apiserver {

namespace {

StatusError unknown_field(const ResourceDef& def, const std::string& path) {
    if (def.strict_field_labels || def.custom)
        return bad_request("field label not supported: " + path);
    return bad_request(
        fmt::format("\"{}\" is not a known field selector: only \"metadata.name\", "
                    "\"metadata.namespace\"",
                    path));
}

bool field_equals(const json::value* field, const std::string& wanted) {
    if (field == nullptr || field->is_null()) return wanted.empty() || wanted == "false";
    if (const json::string* text = field->if_string()) return std::string_view(*text) == wanted;
    return json::serialize(*field) == wanted;
}

}  // namespace

StatusResult<Selection> Selection::make(const ResourceDef& def, std::string namespace_,
                                        std::string_view label_selector,
                                        std::string_view field_selector) {
    Selection made;
    made.namespace_ = std::move(namespace_);
    if (!label_selector.empty()) {
        TRY(made.labels_, kube::LabelSelector::parse(label_selector));
    }
    if (!field_selector.empty()) {
        TRY(made.fields_, kube::parse_field_selector(field_selector));
    }
    for (const kube::FieldRequirement& field : made.fields_) {
        if (field.path == "metadata.name") {
            if (!field.negated) made.name_ = field.value;
        } else if (field.path != "metadata.namespace" &&
                   std::ranges::find(def.selectable_fields, field.path) ==
                       def.selectable_fields.end()) {
            return unknown_field(def, field.path);
        }
    }
    if (def.conversion != nullptr && def.conversion->stored_field != nullptr)
        for (kube::FieldRequirement& field : made.fields_)
            field.path = def.conversion->stored_field(field.path);
    // So that each field of an object is looked up once.
    std::ranges::sort(made.fields_, {}, &kube::FieldRequirement::path);
    return made;
}

bool Selection::reads_objects() const {
    return !labels_.empty() ||
           std::ranges::any_of(fields_, [](const kube::FieldRequirement& field) {
               return field.path != "metadata.name" && field.path != "metadata.namespace";
           });
}

bool Selection::matches(const json::value& object) const {
    const json::object& fields = object.get_object();
    for (const kube::FieldRequirement& wanted : fields_)
        if (field_equals(value_at_path(fields, wanted.path), wanted.value) == wanted.negated)
            return false;
    return matches_labels(labels_, object_at(metadata_of(fields), "labels"));
}

bool Selection::matches(const store::ObjectText& object) const {
    if (const kube::ObjectPtr tree = object.tree_in_use()) return matches(*tree);
    json::value field;
    std::string_view path;
    for (const kube::FieldRequirement& wanted : fields_) {
        if (wanted.path != path) field = value_at_path(object.text(), wanted.path);
        path = wanted.path;
        if (field_equals(&field, wanted.value) == wanted.negated) return false;
    }
    return matches_labels(labels_, object);
}

}  // namespace muster::apiserver
