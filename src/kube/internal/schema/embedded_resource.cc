#include "kube/internal/schema/embedded_resource.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "kube/internal/schema/value_text.h"
#include "kube/values/json_access.h"
#include "kube/values/name_syntax.h"

namespace muster::kube {
namespace {

constexpr std::string_view kKindMessage =
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case "
    "alphanumeric characters or '-', start with an alphabetic character, and end with an "
    "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamespaceMessage =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

class EmbeddedProblems {
  public:
    EmbeddedProblems(const json::object& object, const std::string& path)
        : object_(object), path_(path) {}

    void check_api_version() {
        const json::string* text = needed("apiVersion");
        if (text != nullptr && std::ranges::count(*text, '/') > 1)
            invalid("apiVersion", json::value(*text),
                    fmt::format("unexpected GroupVersion string: {}", std::string_view(*text)));
    }
    void check_kind() {
        const json::string* text = needed("kind");
        if (text != nullptr && !is_dns1035_label(lower_case(std::string_view(*text))))
            invalid("kind", json::value(*text), kKindMessage);
    }
    void check_names() {
        const std::string_view name = name_of(object_);
        if (name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos)
            invalid("metadata.name", json::value(name),
                    "may not be '.', '..' or contain '/' or '%'");
        const std::string_view space = namespace_of(object_);
        if (!space.empty() && !is_dns1123_label(space))
            invalid("metadata.namespace", json::value(space), kNamespaceMessage);
    }
    std::vector<Cause> take() { return std::move(found_); }

  private:
    /// Null if it is missing or empty, which is wrong, or no text.
    const json::string* needed(std::string_view key) {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || value->is_null()) {
            found_.push_back({"FieldValueRequired", "Required value: must not be empty",
                              fmt::format("{}.{}", path_, key)});
            return nullptr;
        }
        const json::string* text = value->if_string();
        if (text == nullptr || !text->empty()) return text;
        invalid(key, *value, "must not be empty");
        return nullptr;
    }
    void invalid(std::string_view key, const json::value& value, std::string_view why) {
        found_.push_back({"FieldValueInvalid",
                          fmt::format("Invalid value: {}: {}", value_text(value), why),
                          fmt::format("{}.{}", path_, key)});
    }

    const json::object& object_;
    const std::string& path_;
    std::vector<Cause> found_;
};

}  // namespace

std::vector<Cause> embedded_problems(const json::object& object, const std::string& path) {
    EmbeddedProblems problems(object, path);
    problems.check_api_version();
    problems.check_kind();
    problems.check_names();
    return problems.take();
}

}  // namespace muster::kube
