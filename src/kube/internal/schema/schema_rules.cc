#include "kube/internal/schema/schema_rules.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/trimmed.h"

namespace muster::kube {
namespace {

constexpr std::string_view kField = "x-kubernetes-validations";
constexpr std::string_view kBlanks = " \t\r\n";

bool is_blank(std::string_view text) { return trimmed(text, kBlanks).empty(); }
bool has_lines(std::string_view text) {
    return trimmed(text, kBlanks).find_first_of("\r\n") != text.npos;
}

/// Reads one rule and collects every reason against it.
class RuleReader {
  public:
    RuleReader(FieldPath& path, std::vector<Cause>& causes) : path_(path), causes_(causes) {}

    Schema::Rule read(const json::object& object) {
        Schema::Rule rule;
        for (const auto& [key, value] : object)
            if (!value.is_null()) read_field(key, value, rule);
        check(rule);
        return rule;
    }
    void refuse(std::string_view key, std::string_view reason, std::string message) {
        causes_.push_back({std::string(reason), std::move(message),
                           key.empty() ? path_.text() : path_.field(key)});
    }

  private:
    std::string text(std::string_view key, const json::value& value) {
        if (const json::string* string = value.if_string())
            return std::string(string->data(), string->size());
        refuse(key, "FieldValueTypeInvalid", "Invalid value: must be a string");
        return {};
    }
    void read_field(std::string_view key, const json::value& value, Schema::Rule& rule) {
        if (key == "rule") {
            rule.rule = text(key, value);
        } else if (key == "message") {
            rule.message = text(key, value);
        } else if (key == "messageExpression") {
            rule.message_expression = text(key, value);
        } else if (key == "reason") {
            rule.reason = text(key, value);
        } else if (key == "fieldPath") {
            rule.field_path = text(key, value);
        } else if (key == "optionalOldSelf") {
            if (!value.is_bool())
                return refuse(key, "FieldValueTypeInvalid", "Invalid value: must be true or false");
            rule.optional_old_self = value.get_bool();
            rule.says_optional_old_self = true;
        } else {
            refuse(key, "FieldValueInvalid", "Invalid value: unknown keyword of a rule");
        }
    }

    // As apiextensions has it: pkg/apis/apiextensions/validation/validation.go.
    void check(const Schema::Rule& rule) {
        if (is_blank(rule.rule))
            refuse("rule", "FieldValueRequired", "Required value: rule is not specified");
        else if (!rule.message.empty() && is_blank(rule.message))
            invalid("message", rule.message, "message must be non-empty if specified");
        else if (has_lines(rule.message))
            invalid("message", rule.message, "message must not contain line breaks");
        else if (has_lines(rule.rule) && rule.message.empty())
            refuse("message", "FieldValueRequired",
                   "Required value: message must be specified if rule contains line breaks");
        if (!rule.message_expression.empty() && is_blank(rule.message_expression))
            refuse("messageExpression", "FieldValueRequired",
                   "Required value: messageExpression must be non-empty if specified");
        check_reason(rule.reason);
        if (!rule.field_path.empty() && is_blank(rule.field_path))
            invalid("fieldPath", rule.field_path, "fieldPath must be non-empty if specified");
    }
    void check_reason(const std::string& reason) {
        static constexpr std::array<std::string_view, 4> kReasons = {
            "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid",
            "FieldValueRequired"};
        if (reason.empty() || std::ranges::find(kReasons, reason) != kReasons.end()) return;
        refuse("reason", "FieldValueNotSupported",
               "Unsupported value: \"" + reason +
                   "\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
                   "\"FieldValueInvalid\", \"FieldValueRequired\"");
    }
    void invalid(std::string_view key, const std::string& value, std::string_view why) {
        refuse(key, "FieldValueInvalid", "Invalid value: \"" + value + "\": " + std::string(why));
    }

    FieldPath& path_;
    std::vector<Cause>& causes_;
};

/// Takes a name from a field path: behind a dot, or in quotes and brackets. Nothing if there is none.
std::optional<std::string> take_name(std::string_view& rest) {
    if (rest.starts_with('.')) {
        const std::size_t end = rest.find_first_of(".[]'", 1);
        std::string name(rest.substr(1, end == rest.npos ? end : end - 1));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        if (name.empty()) return std::nullopt;
        return name;
    }
    if (!rest.starts_with("['")) return std::nullopt;
    std::string name;
    std::size_t at = 2;
    for (; at < rest.size() && rest[at] != '\''; ++at) {
        if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
        name += rest[at];
    }
    if (!rest.substr(std::min(at, rest.size())).starts_with("']")) return std::nullopt;
    rest.remove_prefix(at + 2);
    return name;
}

/// The field that a path leads to, as messages show it; nothing if there is no such field.
std::optional<std::string> blamed_by(const Schema& root, std::string_view path) {
    std::string shown;
    const Schema* at = &root;
    std::string_view rest = trimmed(path, kBlanks);
    while (!rest.empty()) {
        const std::optional<std::string> name = take_name(rest);
        if (!name || at == nullptr) return std::nullopt;
        if (!at->properties.empty()) {
            at = at->property(*name);
            if (at == nullptr) return std::nullopt;
            shown += (shown.empty() ? "" : ".") + *name;
        } else if (at->additional) {
            at = at->additional.get();
            shown += "[" + *name + "]";
        } else {
            return std::nullopt;
        }
    }
    return shown;
}

}  // namespace

std::vector<Schema::Rule> read_rules(const json::value& openapi, FieldPath& path,
                                     std::vector<Cause>& causes) {
    FieldPath::Step step(path, kField);
    RuleReader reader(path, causes);
    std::vector<Schema::Rule> rules;
    const json::array* list = openapi.if_array();
    if (list == nullptr) {
        reader.refuse({}, "FieldValueTypeInvalid", "Invalid value: must be a list");
        return rules;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        FieldPath::Step item(path, i);
        if (const json::object* object = (*list)[i].if_object())
            rules.push_back(reader.read(*object));
        else
            reader.refuse({}, "FieldValueTypeInvalid", "Invalid value: must be an object");
    }
    return rules;
}

void settle_field_paths(Schema& schema, FieldPath& path, std::vector<Cause>& causes) {
    for (std::size_t i = 0; i < schema.rules.size(); ++i) {
        Schema::Rule& rule = schema.rules[i];
        if (is_blank(rule.field_path)) continue;
        if (std::optional<std::string> blamed = blamed_by(schema, rule.field_path)) {
            rule.blamed = *std::move(blamed);
            continue;
        }
        FieldPath::Step step(path, kField);
        FieldPath::Step item(path, i);
        causes.push_back(
            {"FieldValueInvalid",
             "Invalid value: \"" + rule.field_path + "\": fieldPath must be a valid path",
             path.field("fieldPath")});
    }
}

json::array rules_as_openapi(const std::vector<Schema::Rule>& rules) {
    json::array list;
    for (const Schema::Rule& rule : rules) {
        json::object out{{"rule", rule.rule}};
        auto put = [&](std::string_view key, const std::string& value) {
            if (!value.empty()) out.emplace(key, value);
        };
        put("message", rule.message);
        put("messageExpression", rule.message_expression);
        put("reason", rule.reason);
        put("fieldPath", rule.field_path);
        if (rule.says_optional_old_self) out.emplace("optionalOldSelf", rule.optional_old_self);
        list.emplace_back(std::move(out));
    }
    return list;
}

bool are_rules_below(const Schema& schema) {
    auto has = [](const Schema::Ptr& part) { return part != nullptr && part->has_rules(); };
    return has(schema.items) || has(schema.additional) ||
           std::ranges::any_of(schema.properties,
                               [&](const auto& entry) { return has(entry.second); });
}

}  // namespace muster::kube
