#include "apiserver_http/internal/discovery/openapi_v2.h"

#include <algorithm>
#include <boost/json/array.hpp>

#include "apiserver_http/internal/discovery/discovery.h"
#include "apiserver_http/internal/json_access.h"

namespace muster::apiserver_http {

namespace {

constexpr std::string_view kMethods[] = {"get", "put", "post", "delete", "patch"};

/// "#/definitions/x" for "#/components/schemas/x".
std::string definition_path(std::string_view component) {
    return "#/definitions/" + std::string(component.substr(component.rfind('/') + 1));
}

/// The only schema of `allOf`, which v3 needs if there is anything next to a reference.
const json::object* only_one(const json::object& schema) {
    const json::array* all = array_at(schema, "allOf");
    return all == nullptr || all->size() != 1 ? nullptr : all->front().if_object();
}

bool has_type(const json::array& alternatives, std::string_view type) {
    return std::ranges::any_of(alternatives, [&](const json::value& one) {
        return one.is_object() && string_at(one.get_object(), "type") == type;
    });
}

json::object schema_of(const json::object& v3);

json::object properties_of(const json::object& v3) {
    json::object out;
    for (const auto& [name, property] : v3)
        out[name] = property.is_object() ? schema_of(property.get_object()) : json::object();
    return out;
}

json::object schema_of(const json::object& v3) {
    json::object out;
    if (const json::object* one = only_one(v3)) out = schema_of(*one);
    const bool keeps_unknown = bool_at(v3, "x-kubernetes-preserve-unknown-fields");
    for (const auto& [key, value] : v3) {
        if (key == "$ref" && value.is_string()) {
            out["$ref"] = definition_path(value.get_string());
        } else if (key == "oneOf" && value.is_array()) {
            // A number or a string. A client of v2 accepts both for a string.
            out["type"] = "string";
            if (has_type(value.get_array(), "integer")) out["format"] = "int-or-string";
        } else if (key == "properties" && value.is_object()) {
            out["properties"] = properties_of(value.get_object());
        } else if ((key == "items" || key == "additionalProperties") && value.is_object()) {
            out[key] = schema_of(value.get_object());
        } else if (key != "allOf" && key != "anyOf" && key != "not" && key != "nullable") {
            out[key] = value;
        }
    }
    // In v2 an object without these may have any fields; otherwise clients refuse them.
    if (keeps_unknown)
        for (const char* key : {"properties", "items", "additionalProperties", "required", "type"})
            out.erase(key);
    return out;
}

json::object parameter_of(const json::object& v3) {
    json::object out;
    for (const char* key : {"name", "in", "description", "required"})
        if (const json::value* value = v3.if_contains(key)) out[key] = *value;
    if (const json::object* schema = object_at(v3, "schema"))
        for (const auto& [key, value] : *schema) out[key] = value;
    return out;
}

json::array parameters_of(const json::object& v3) {
    json::array out;
    if (const json::array* parameters = array_at(v3, "parameters"))
        for (const json::value& one : *parameters)
            if (one.is_object()) out.push_back(parameter_of(one.get_object()));
    return out;
}

/// The schema of a body: that of its first media type, as all have the same.
const json::object* schema_of_content(const json::object& holder) {
    const json::object* content = object_at(holder, "content");
    if (content == nullptr || content->empty()) return nullptr;
    const json::object* media = content->begin()->value().if_object();
    return media == nullptr ? nullptr : object_at(*media, "schema");
}

json::array media_types_of(const json::object& holder) {
    json::array types;
    if (const json::object* content = object_at(holder, "content"))
        for (const auto& [type, media] : *content) types.emplace_back(type);
    return types;
}

json::object operation_of(const json::object& v3) {
    json::object out;
    for (const char* key :
         {"operationId", "x-kubernetes-action", "x-kubernetes-group-version-kind"})
        if (const json::value* value = v3.if_contains(key)) out[key] = *value;
    json::array parameters = parameters_of(v3);
    out["consumes"] = json::array{"*/*"};
    out["produces"] = json::array{"application/json", "application/yaml"};
    if (const json::object* body = object_at(v3, "requestBody")) {
        json::object parameter{{"name", "body"}, {"in", "body"}, {"required", true}};
        const json::object* schema = schema_of_content(*body);
        parameter["schema"] = schema == nullptr ? json::object() : schema_of(*schema);
        parameters.insert(parameters.begin(), std::move(parameter));
        out["consumes"] = media_types_of(*body);
    }
    if (!parameters.empty()) out["parameters"] = std::move(parameters);
    json::object responses;
    if (const json::object* answers = object_at(v3, "responses"))
        for (const auto& [code, answer] : *answers) {
            if (!answer.is_object()) continue;
            json::object response{{"description", string_at(answer.get_object(), "description")}};
            if (const json::object* schema = schema_of_content(answer.get_object()))
                response["schema"] = schema_of(*schema);
            responses[code] = std::move(response);
        }
    out["responses"] = std::move(responses);
    return out;
}

json::object path_of(const json::object& v3) {
    json::object out;
    for (const std::string_view method : kMethods)
        if (const json::object* operation = object_at(v3, method))
            out[method] = operation_of(*operation);
    if (json::array parameters = parameters_of(v3); !parameters.empty())
        out["parameters"] = std::move(parameters);
    return out;
}

}  // namespace

json::object openapi_v2(std::span<const json::value> documents) {
    json::object paths;
    json::object definitions;
    for (const json::value& document : documents) {
        const json::object& whole = document.get_object();
        if (const json::object* of = object_at(whole, "paths"))
            for (const auto& [path, item] : *of) paths[path] = path_of(item.get_object());
        const json::object* components = object_at(whole, "components");
        const json::object* schemas =
            components == nullptr ? nullptr : object_at(*components, "schemas");
        if (schemas == nullptr) continue;
        for (const auto& [name, schema] : *schemas)
            if (!definitions.contains(name)) definitions[name] = schema_of(schema.get_object());
    }
    return {{"swagger", "2.0"},
            {"info", {{"title", "Kubernetes"}, {"version", kServerVersion}}},
            {"paths", std::move(paths)},
            {"definitions", std::move(definitions)},
            {"securityDefinitions",
             {{"BearerToken",
               {{"description", "The token of a user."},
                {"type", "apiKey"},
                {"name", "authorization"},
                {"in", "header"}}}}},
            {"security", json::array{json::object{{"BearerToken", json::array()}}}}};
}

}  // namespace muster::apiserver_http
