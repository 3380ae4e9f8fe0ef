#include <bit>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/discovery/openapi_v2.h"
#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/protobuf/wire_writer.h"

namespace muster::apiserver_http {

// The field numbers are those of gnostic's openapiv2/OpenAPIv2.proto.

namespace {

struct Numbered {
    std::string_view key;
    std::uint32_t number;
};

void put_text(WireWriter& out, std::uint32_t number, const json::object& from,
              std::string_view key) {
    if (const std::string_view text = string_at(from, key); !text.empty()) out.bytes(number, text);
}

void put_texts(WireWriter& out, std::uint32_t number, const json::object& from,
               std::string_view key) {
    for (const std::string& text : strings_at(from, key)) out.bytes(number, text);
}

void put_flag(WireWriter& out, std::uint32_t number, const json::object& from,
              std::string_view key) {
    if (bool_at(from, key)) out.varint(number, 1);
}

/// Any value is YAML text, which includes JSON.
WireWriter any_of(const json::value& value) {
    return WireWriter().bytes(2, json::serialize(value) + "\n");
}

void put_extensions(WireWriter& out, std::uint32_t number, const json::object& from) {
    for (const auto& [key, value] : from)
        if (key.starts_with("x-"))
            out.message(number, WireWriter().bytes(1, key).message(2, any_of(value)));
}

WireWriter schema_message(const json::object& schema);

/// A map of schemas is a list of names with them.
WireWriter named_schemas(const json::object& schemas) {
    WireWriter out;
    for (const auto& [name, schema] : schemas)
        if (schema.is_object())
            out.message(
                1, WireWriter().bytes(1, name).message(2, schema_message(schema.get_object())));
    return out;
}

WireWriter schema_message(const json::object& schema) {
    constexpr Numbered kTexts[] = {
        {"$ref", 1}, {"format", 2}, {"title", 3}, {"description", 4}, {"pattern", 13}};
    constexpr Numbered kDoubles[] = {{"multipleOf", 6}, {"maximum", 7}, {"minimum", 9}};
    constexpr Numbered kIntegers[] = {{"maxLength", 11},     {"minLength", 12},
                                      {"maxItems", 14},      {"minItems", 15},
                                      {"maxProperties", 17}, {"minProperties", 18}};
    constexpr Numbered kFlags[] = {
        {"exclusiveMaximum", 8}, {"exclusiveMinimum", 10}, {"uniqueItems", 16}};
    WireWriter out;
    for (const auto& [key, number] : kTexts) put_text(out, number, schema, key);
    for (const auto& [key, number] : kFlags) put_flag(out, number, schema, key);
    for (const auto& [key, number] : kDoubles)
        if (const json::value* value = schema.if_contains(key);
            value != nullptr && value->is_number())
            out.fixed64(number, std::bit_cast<std::uint64_t>(value->to_number<double>()));
    for (const auto& [key, number] : kIntegers)
        if (const auto value = int_at(schema, key))
            out.varint(number, static_cast<std::uint64_t>(*value));
    if (const json::value* value = schema.if_contains("default")) out.message(5, any_of(*value));
    put_texts(out, 19, schema, "required");
    if (const json::array* values = array_at(schema, "enum"))
        for (const json::value& value : *values) out.message(20, any_of(value));
    if (const json::object* more = object_at(schema, "additionalProperties"))
        out.message(21, WireWriter().message(1, schema_message(*more)));
    else if (bool_at(schema, "additionalProperties"))
        out.message(21, WireWriter().varint(2, 1));
    if (const std::string_view type = string_at(schema, "type"); !type.empty())
        out.message(22, WireWriter().bytes(1, type));
    if (const json::object* items = object_at(schema, "items"))
        out.message(23, WireWriter().message(1, schema_message(*items)));
    if (const json::object* properties = object_at(schema, "properties"))
        out.message(25, named_schemas(*properties));
    put_extensions(out, 31, schema);
    return out;
}

WireWriter parameter_message(const json::object& parameter) {
    const std::string_view in = string_at(parameter, "in");
    WireWriter fields;
    if (in == "body") {
        put_text(fields, 2, parameter, "name");
        fields.bytes(3, in);
        put_flag(fields, 4, parameter, "required");
        if (const json::object* schema = object_at(parameter, "schema"))
            fields.message(5, schema_message(*schema));
        return WireWriter().message(1, WireWriter().message(1, fields));
    }
    // A parameter of the path has no allow_empty_value, so its type is one number earlier.
    const bool query = in == "query";
    put_flag(fields, 1, parameter, "required");
    fields.bytes(2, in);
    put_text(fields, 3, parameter, "description");
    put_text(fields, 4, parameter, "name");
    put_text(fields, query ? 6 : 5, parameter, "type");
    const WireWriter other = WireWriter().message(query ? 3 : 4, fields);
    return WireWriter().message(1, WireWriter().message(2, other));
}

void put_parameters(WireWriter& out, std::uint32_t number, const json::object& from) {
    if (const json::array* parameters = array_at(from, "parameters"))
        for (const json::value& one : *parameters)
            if (one.is_object()) out.message(number, parameter_message(one.get_object()));
}

WireWriter responses_message(const json::object& responses) {
    WireWriter out;
    for (const auto& [code, answer] : responses) {
        WireWriter response;
        put_text(response, 1, answer.get_object(), "description");
        if (const json::object* schema = object_at(answer.get_object(), "schema"))
            response.message(2, WireWriter().message(1, schema_message(*schema)));
        out.message(1, WireWriter().bytes(1, code).message(2, WireWriter().message(1, response)));
    }
    return out;
}

WireWriter operation_message(const json::object& operation) {
    WireWriter out;
    put_text(out, 5, operation, "operationId");
    put_texts(out, 6, operation, "produces");
    put_texts(out, 7, operation, "consumes");
    put_parameters(out, 8, operation);
    if (const json::object* responses = object_at(operation, "responses"))
        out.message(9, responses_message(*responses));
    put_extensions(out, 13, operation);
    return out;
}

WireWriter path_message(const json::object& path) {
    constexpr Numbered kMethods[] = {
        {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
    WireWriter out;
    for (const auto& [method, number] : kMethods)
        if (const json::object* operation = object_at(path, method))
            out.message(number, operation_message(*operation));
    put_parameters(out, 9, path);
    return out;
}

}  // namespace

std::string openapi_v2_protobuf(const json::object& document) {
    WireWriter out;
    put_text(out, 1, document, "swagger");
    if (const json::object* info = object_at(document, "info")) {
        WireWriter fields;
        put_text(fields, 1, *info, "title");
        put_text(fields, 2, *info, "version");
        out.message(2, fields);
    }
    WireWriter paths;
    if (const json::object* all = object_at(document, "paths"))
        for (const auto& [name, path] : *all)
            paths.message(2,
                          WireWriter().bytes(1, name).message(2, path_message(path.get_object())));
    out.message(8, paths);
    if (const json::object* definitions = object_at(document, "definitions"))
        out.message(9, named_schemas(*definitions));
    return out.text();
}

}  // namespace muster::apiserver_http
