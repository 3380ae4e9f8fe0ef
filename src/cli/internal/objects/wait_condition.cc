#include "cli/internal/objects/wait_condition.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "base/lower_case.h"
#include "cli/internal/objects/json_path_template.h"
#include "cli/internal/objects/object_table.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::string_at;

constexpr std::string_view kCondition = "condition=";
constexpr std::string_view kJsonPath = "jsonpath=";

const json::object* condition_of(const json::object& object, std::string_view type) {
    const json::object* status = kube::object_at(object, "status");
    const json::array* list = status == nullptr ? nullptr : kube::array_at(*status, "conditions");
    if (list == nullptr) return nullptr;
    for (const json::value& item : *list)
        if (const json::object* condition = item.if_object();
            condition != nullptr && equal_without_case(string_at(*condition, "type"), type))
            return condition;
    return nullptr;
}

std::string condition_words(const json::object& condition) {
    std::string words = fmt::format("condition {} is {}", string_at(condition, "type"),
                                    string_at(condition, "status"));
    const std::string_view reason = string_at(condition, "reason");
    const std::string_view message = string_at(condition, "message");
    if (!reason.empty()) words += fmt::format(": {}", printable_cell(reason));
    if (!message.empty()) words += fmt::format(": {}", printable_cell(message));
    return words;
}

/// A job's final state other than `type`: our job kinds have one of the two and keep it.
const json::object* other_end(const json::object& object, std::string_view type) {
    if (jobs::find_kind(string_at(object, "apiVersion"), string_at(object, "kind")) == nullptr)
        return nullptr;
    const bool end = equal_without_case(type, "Succeeded") || equal_without_case(type, "Failed");
    if (!end) return nullptr;
    for (const std::string_view other : {"Succeeded", "Failed"}) {
        if (equal_without_case(other, type)) continue;
        const json::object* condition = condition_of(object, other);
        if (condition != nullptr && string_at(*condition, "status") == "True") return condition;
    }
    return nullptr;
}

}  // namespace

Result<WaitCondition> WaitCondition::parse(std::string_view text) {
    WaitCondition condition;
    if (text == "delete") return condition;
    if (text.starts_with(kJsonPath)) return parse_path(text.substr(kJsonPath.size()));
    if (text.starts_with(kCondition)) {
        std::string_view status = text.substr(kCondition.size());
        const std::string_view type = take_field(status, '=');
        if (!type.empty()) {
            condition.wanted_ =
                Condition{std::string(type), status.empty() ? "True" : std::string(status)};
            return condition;
        }
    }
    return Error(Code::kInvalid,
                 fmt::format("--for wants condition=TYPE, condition=TYPE=STATUS, delete, "
                             "jsonpath={{PATH}} or jsonpath={{PATH}}=VALUE, not \"{}\"",
                             text));
}

Result<WaitCondition> WaitCondition::parse_path(std::string_view text) {
    std::string_view path = text;
    std::optional<std::string> value;
    std::string_view rest;
    if (path.starts_with('{')) {
        const std::size_t close = path.rfind('}');
        if (close == path.npos)
            return Error(Code::kInvalid, "--for: the '{' of the JSONPath has no '}'");
        rest = path.substr(close + 1);
        path = path.substr(1, close - 1);
        if (!rest.empty() && !rest.starts_with('='))
            return Error(
                Code::kInvalid,
                fmt::format("--for: \"{}\" after the JSONPath has to begin with '='", rest));
    } else if (const std::size_t equal = path.rfind('=');
               equal != path.npos && path.find(']', equal) == path.npos) {
        rest = path.substr(equal);
        path = path.substr(0, equal);
    }
    if (!rest.empty()) value = rest.substr(1);
    if (value && value->empty())
        return Error(Code::kInvalid, "--for: the value after the '=' is empty");
    Result<kube::JsonPath> parsed = kube::JsonPath::parse(path);
    if (!parsed)
        return Error(Code::kInvalid,
                     fmt::format("--for: \"{}\" {}", path, parsed.error().message()));
    WaitCondition condition;
    condition.wanted_ = Path{std::string(path), *std::move(parsed), std::move(value)};
    return condition;
}

WaitCondition::Answer WaitCondition::ask(const json::value& object) const {
    const json::object* root = object.if_object();
    if (root == nullptr) return {};
    if (const Condition* condition = std::get_if<Condition>(&wanted_))
        return ask(*condition, *root);
    if (const Path* path = std::get_if<Path>(&wanted_)) return ask(*path, object);
    return {.met = false,
            .never = false,
            .now = kube::is_deleting(*root) ? "it is being deleted" : "it is there"};
}

WaitCondition::Answer WaitCondition::ask(const Condition& wanted, const json::object& object) {
    const json::object* condition = condition_of(object, wanted.type);
    if (condition != nullptr && equal_without_case(string_at(*condition, "status"), wanted.status))
        return {.met = true, .never = false, .now = {}};
    if (wanted.status == "True")
        if (const json::object* end = other_end(object, wanted.type))
            return {.met = false, .never = true, .now = condition_words(*end)};
    return {.met = false,
            .never = false,
            .now = condition == nullptr ? fmt::format("it has no condition {}", wanted.type)
                                        : condition_words(*condition)};
}

WaitCondition::Answer WaitCondition::ask(const Path& wanted, const json::value& object) {
    const auto found = wanted.path.find(object);
    for (const json::value* value : found)
        if (!wanted.value || plain_text(*value) == *wanted.value)
            return {.met = true, .never = false, .now = {}};
    return {.met = false,
            .never = false,
            .now = found.empty() ? fmt::format("{} is not there", wanted.text)
                                 : fmt::format("{} is {}", wanted.text,
                                               printable_cell(plain_text(*found.front())))};
}

}  // namespace muster::cli
