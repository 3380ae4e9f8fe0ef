#include "apiserver/internal/expressions/schema_declaration.h"

#include <algorithm>

namespace muster::apiserver {
namespace {

using cel::Declaration;
using cel::DeclarationPtr;
using Kind = cel::Type::Kind;
using SchemaType = kube::Schema::Type;

constexpr std::int64_t kLongestText = kLargestRequest - 2;  ///< without its quotes

Declaration scalar(Kind kind, std::int64_t min_serialized_size, std::int64_t max_elements = 0) {
    Declaration made;
    made.form = Declaration::Form::kScalar;
    made.scalar = kind;
    made.min_serialized_size = min_serialized_size;
    made.max_elements = max_elements;
    return made;
}

std::int64_t longest(const kube::Schema& schema, std::int64_t factor, std::int64_t otherwise) {
    return schema.max_length ? static_cast<std::int64_t>(*schema.max_length) * factor : otherwise;
}

Declaration text_declaration(const kube::Schema& schema) {
    if (schema.format == "byte") return scalar(Kind::kBytes, 2, longest(schema, 1, kLongestText));
    if (schema.format == "duration") return scalar(Kind::kDuration, 3, 32);
    if (schema.format == "date") return scalar(Kind::kTimestamp, 12, 12);
    if (schema.format == "date-time") return scalar(Kind::kTimestamp, 21, 32);
    std::int64_t most = kLongestText;
    if (!schema.enumeration.empty()) {
        most = 0;
        for (const std::string& value : schema.enumeration)
            most = std::max(most, static_cast<std::int64_t>(value.size()));
    }
    // A length counts code points, of four bytes at most.
    return scalar(Kind::kString, 2, longest(schema, 4, most));
}

DeclarationPtr shared(Declaration made) {
    return std::make_shared<const Declaration>(std::move(made));
}

DeclarationPtr list_declaration(const kube::Schema& schema, const std::string& name) {
    if (schema.items == nullptr) return nullptr;
    Declaration made;
    made.form = Declaration::Form::kList;
    made.element = declaration_of(*schema.items, schema.items->embedded_resource, name + ".@idx");
    if (made.element == nullptr) return nullptr;
    made.min_serialized_size = 2;
    made.max_elements = schema.max_items ? static_cast<std::int64_t>(*schema.max_items)
                                         : kLongestText / (made.element->min_serialized_size + 1);
    if (schema.list_type == kube::Schema::ListType::kSet)
        made.list_type = Declaration::ListType::kSet;
    if (schema.list_type == kube::Schema::ListType::kMap)
        made.list_type = Declaration::ListType::kMap;
    made.list_map_keys = schema.list_map_keys;
    return shared(std::move(made));
}

DeclarationPtr map_declaration(const kube::Schema& schema, const std::string& name) {
    Declaration made;
    made.form = Declaration::Form::kMap;
    made.element =
        declaration_of(*schema.additional, schema.additional->embedded_resource, name + ".@elem");
    if (made.element == nullptr) return nullptr;
    made.min_serialized_size = 2;
    made.max_elements = schema.max_properties
                            ? static_cast<std::int64_t>(*schema.max_properties)
                            : kLongestText / (made.element->min_serialized_size + 6);
    return shared(std::move(made));
}

void add_field(Declaration& object, const std::string& name, DeclarationPtr declaration) {
    if (const std::string escaped = cel::escape(name); !escaped.empty())
        object.fields[escaped] = {name, std::move(declaration)};
}

void add_root_fields(Declaration& object) {
    add_field(object, "apiVersion", shared(scalar(Kind::kString, 2, kLongestText)));
    add_field(object, "kind", shared(scalar(Kind::kString, 2, kLongestText)));
    Declaration metadata;
    metadata.name = object.name + ".metadata";
    metadata.form = Declaration::Form::kObject;
    metadata.min_serialized_size = 2;
    add_field(metadata, "name", shared(scalar(Kind::kString, 2, kLongestText)));
    add_field(metadata, "generateName", shared(scalar(Kind::kString, 2, kLongestText)));
    add_field(object, "metadata", shared(std::move(metadata)));
}

DeclarationPtr object_declaration(const kube::Schema& schema, bool root, const std::string& name) {
    if (schema.additional != nullptr) return map_declaration(schema, name);
    Declaration made;
    made.form = Declaration::Form::kObject;
    made.name = name;
    made.min_serialized_size = 2;
    for (const auto& [key, property] : schema.properties) {
        DeclarationPtr field =
            declaration_of(*property, property->embedded_resource, name + "." + cel::escape(key));
        if (field == nullptr) continue;
        const bool required = std::ranges::find(schema.required, key) != schema.required.end();
        if (required && property->default_value.is_null())
            made.min_serialized_size +=
                static_cast<std::int64_t>(key.size()) + field->min_serialized_size + 4;
        add_field(made, std::string(key), std::move(field));
    }
    if (root) add_root_fields(made);
    return shared(std::move(made));
}

}  // namespace

DeclarationPtr declaration_of(const kube::Schema& schema, bool root, const std::string& name) {
    switch (schema.type) {
        case SchemaType::kIntOrString:
            return shared(scalar(Kind::kDyn, 1, kLongestText));
        case SchemaType::kArray:
            return list_declaration(schema, name);
        case SchemaType::kObject:
            return object_declaration(schema, root, name);
        case SchemaType::kString:
            return shared(text_declaration(schema));
        case SchemaType::kBoolean:
            return shared(scalar(Kind::kBool, 4));
        case SchemaType::kNumber:
            return shared(scalar(Kind::kDouble, 1));
        case SchemaType::kInteger:
            return shared(scalar(Kind::kInt, 1));
        case SchemaType::kAny:
            return nullptr;
    }
    return nullptr;
}

}  // namespace muster::apiserver
