#include "cli/internal/explain/field_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "apiserver/object_rules.h"
#include "apiserver_http/field_descriptions.h"
#include "base/lower_case.h"
#include "jobs/conversion.h"
#include "jobs/kind.h"

namespace muster::cli {

namespace {

using Type = kube::Schema::Type;

constexpr std::size_t kWidth = 80;
/// A schema may contain itself, like the one of JSON schemas.
constexpr int kDeepest = 12;

std::vector<std::string> words_for(const KindWithFields& kind) {
    std::vector<std::string> words{lower_case(kind.type.kind), kind.type.plural};
    words.insert(words.end(), kind.short_names.begin(), kind.short_names.end());
    return words;
}

Result<const KindWithFields*> find_kind(const std::vector<KindWithFields>& kinds,
                                        std::string_view word, std::string_view api_version) {
    const std::string wanted = lower_case(word);
    std::vector<std::string> known;
    std::vector<std::string> versions;
    for (const KindWithFields& kind : kinds) {
        const std::vector<std::string> words = words_for(kind);
        known.push_back(words.front());
        if (std::ranges::find(words, wanted) == words.end()) continue;
        if (api_version.empty() || kind.type.api_version() == api_version ||
            kind.type.version == api_version)
            return &kind;
        versions.push_back(fmt::format("{} ({})", kind.type.kind, kind.type.api_version()));
    }
    if (!versions.empty())
        return Error(Code::kNotFound, fmt::format("there is no {} in \"{}\"; there are {}", wanted,
                                                  api_version, fmt::join(versions, ", ")));
    const std::string nearest = kube::nearest_name(wanted, known);
    return Error(Code::kNotFound,
                 fmt::format("the kind \"{}\" is not known{}", word,
                             nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

/// The schema inside lists and maps.
const kube::Schema* inside(const kube::Schema* schema) {
    while (schema->items || schema->additional)
        schema = schema->items ? schema->items.get() : schema->additional.get();
    return schema;
}

std::string type_text(const kube::Schema& schema) {
    if (schema.items) return "[]" + type_text(*schema.items);
    if (schema.additional) return "map[string]" + type_text(*schema.additional);
    switch (schema.type) {
        case Type::kAny:
            return "any";
        case Type::kArray:
            return "[]any";
        case Type::kString:
            return schema.format == "quantity" ? "Quantity" : "string";
        case Type::kInteger:
            return "integer";
        case Type::kNumber:
            return "number";
        case Type::kBoolean:
            return "boolean";
        case Type::kIntOrString:
            return "IntOrString";
        case Type::kObject:
            break;
    }
    const std::string_view name = kube::core_schema_name(schema);
    return name.empty() ? "Object" : std::string(name);
}

std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out;
    std::string line;
    const auto flush = [&] {
        if (!line.empty()) out += std::string(indent, ' ') + std::exchange(line, {}) + '\n';
    };
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        if (!line.empty() && indent + line.size() + 1 + word.size() > kWidth) flush();
        line += line.empty() ? std::string(word) : ' ' + std::string(word);
        text.remove_prefix(std::min(space + 1, text.size()));
    }
    flush();
    return out;
}

/// The limits that the schema sets.
std::string limits_text(const kube::Schema& schema, std::size_t indent) {
    const std::string lead(indent, ' ');
    std::string out;
    std::vector<std::string> values;
    for (const std::string& value : schema.enumeration)
        if (!value.empty()) values.push_back(value);
    if (!values.empty()) out += fmt::format("{}one of: {}\n", lead, fmt::join(values, ", "));
    if (schema.minimum && schema.maximum)
        out += fmt::format("{}from {} to {}\n", lead, *schema.minimum, *schema.maximum);
    else if (schema.minimum)
        out += fmt::format("{}from {} on\n", lead, *schema.minimum);
    else if (schema.maximum)
        out += fmt::format("{}up to {}\n", lead, *schema.maximum);
    if (!schema.default_value.is_null())
        out += fmt::format("{}default: {}\n", lead, json::serialize(schema.default_value));
    return out;
}

/// The schema's own description, or, for one of Kubernetes' structures, ours.
std::string own_text(const kube::Schema& schema) {
    if (!schema.description.empty()) return schema.description;
    const kube::Schema& one = *inside(&schema);
    if (!one.description.empty()) return one.description;
    return std::string(apiserver_http::description_of(kube::core_schema_name(one)));
}

/// The description of a field of this object, else of its content.
std::string text_of(const kube::Schema& object, std::string_view name, const kube::Schema& field) {
    const std::string_view core =
        apiserver_http::description_of(kube::core_schema_name(object), name);
    return core.empty() ? own_text(field) : std::string(core);
}

bool is_required(const kube::Schema& object, std::string_view field) {
    return std::ranges::find(object.required, field) != object.required.end();
}

std::string field_line(const kube::Schema& object, const std::string& name,
                       const kube::Schema& field, std::size_t indent) {
    return fmt::format("{}{}\t<{}>{}\n", std::string(indent, ' '), name, type_text(field),
                       is_required(object, name) ? " -required-" : "");
}

void list_recursively(const kube::Schema& object, std::size_t indent, int depth, std::string& out) {
    for (const auto& [name, field] : object.properties) {
        out += field_line(object, name, *field, indent);
        if (depth < kDeepest) list_recursively(*inside(field.get()), indent + 2, depth + 1, out);
    }
}

std::string fields_text(const kube::Schema& object, bool recursive) {
    if (object.properties.empty()) return {};
    std::string out = "\nFIELDS:\n";
    if (recursive) {
        list_recursively(object, 2, 0, out);
        return out;
    }
    for (const auto& [name, field] : object.properties)
        out += field_line(object, name, *field, 2) + wrapped(text_of(object, name, *field), 4) +
               limits_text(*inside(field.get()), 4) + '\n';
    out.pop_back();
    return out;
}

/// The target of a path so far.
struct Reached {
    const kube::Schema* schema = nullptr;
    const kube::Schema* object = nullptr;  ///< the object that it is a field of; may be null
    std::string walked;                    ///< "pytorchjob.spec"
    std::string name;                      ///< of the field; empty: the kind itself
    bool in_map = false;                   ///< the next word may be a key
};

Result<void> step(const KindWithFields& kind, const std::string& word, Reached& reached) {
    const kube::Schema* object = inside(reached.schema);
    const bool any_key = reached.in_map && reached.schema->additional && object->properties.empty();
    const auto known = std::ranges::find_if(kind.known_keys, [&](const std::string& key) {
        return lower_case(key) == lower_case(word);
    });
    const kube::Schema* field = object->property(word);
    if (field != nullptr) {
        reached.schema = field;
        reached.object = object;
        reached.in_map = field->additional != nullptr;
    } else if (any_key || (reached.in_map && known != kind.known_keys.end())) {
        reached.schema = object;
        reached.object = nullptr;
        reached.in_map = false;
    } else {
        std::vector<std::string> names;
        for (const auto& [name, ignored] : object->properties) names.push_back(name);
        if (reached.in_map)
            names.insert(names.end(), kind.known_keys.begin(), kind.known_keys.end());
        const std::string nearest = kube::nearest_name(word, names);
        if (names.empty())
            return Error(Code::kNotFound, fmt::format("{} is a {} and has no fields",
                                                      reached.walked, type_text(*reached.schema)));
        return Error(Code::kNotFound,
                     nearest.empty() ? fmt::format("{} has no field \"{}\"; it has {}",
                                                   reached.walked, word, fmt::join(names, ", "))
                                     : fmt::format("{} has no field \"{}\"; did you mean {}?",
                                                   reached.walked, word, nearest));
    }
    reached.name = word;
    reached.walked += '.' + word;
    return {};
}

}  // namespace

std::vector<KindWithFields> kinds_with_fields() {
    std::vector<KindWithFields> kinds;
    for (const jobs::JobKind* kind : jobs::all_kinds()) {
        KindWithFields& one =
            kinds.emplace_back(KindWithFields{.type = kind->resource,
                                              .short_names = {},
                                              .schema = jobs::object_schema(*kind),
                                              .known_keys = {}});
        for (const jobs::ReplicaType& type : kind->written_types())
            one.known_keys.push_back(type.name);
    }
    for (const apiserver::BuiltInKind& kind : apiserver::built_in_kinds())
        kinds.push_back({.type = kind.type,
                         .short_names = kind.short_names,
                         .schema = kind.schema,
                         .known_keys = {}});
    return kinds;
}

Result<std::string> field_page(const std::vector<KindWithFields>& kinds, std::string_view path,
                               std::string_view api_version, bool recursive) {
    std::vector<std::string> words;
    while (true) {
        const std::size_t dot = path.find('.');
        words.emplace_back(path.substr(0, dot));
        if (dot == std::string_view::npos) break;
        path.remove_prefix(dot + 1);
    }
    TRY(const KindWithFields* kind, find_kind(kinds, words.front(), api_version));
    Reached reached{
        .schema = kind->schema.get(), .walked = lower_case(kind->type.kind), .name = {}};
    for (std::size_t i = 1; i < words.size(); ++i) TRY_VOID(step(*kind, words[i], reached));

    std::string out;
    if (!kind->type.group.empty()) out += fmt::format("GROUP:      {}\n", kind->type.group);
    out += fmt::format("KIND:       {}\nVERSION:    {}\n", kind->type.kind, kind->type.version);
    if (!reached.name.empty())
        out += fmt::format("\nFIELD: {} <{}>\n", reached.name, type_text(*reached.schema));
    std::string description = reached.object == nullptr
                                  ? own_text(*reached.schema)
                                  : text_of(*reached.object, reached.name, *reached.schema);
    if (description.empty() && reached.name.empty())
        description = fmt::format("{} of {}.", kind->type.kind, kind->type.api_version());
    out += "\nDESCRIPTION:\n" + wrapped(description.empty() ? "<empty>" : description, 4) +
           limits_text(*inside(reached.schema), 4);
    return out + fields_text(*inside(reached.schema), recursive);
}

}  // namespace muster::cli
