#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::kube {

/// A label selector in its text form: `a=b,c!=d,e in (f,g),h,!i,j>3`. Grammar and the messages of
/// its errors follow apimachinery pkg/labels/selector.go, since clients show them. Requirements are
/// kept sorted by key, as there.
class LabelSelector {
  public:
    /// An empty text selects everything. Failures are kBadRequest.
    static Result<LabelSelector> parse(std::string_view text);
    /// All pairs must be equal.
    static LabelSelector from_map(const std::map<std::string, std::string>& pairs);

    bool matches(const std::map<std::string, std::string>& labels) const;
    bool empty() const { return requirements_.empty(); }
    /// Whether it asks for the label.
    bool names(std::string_view key) const;
    /// Parsing this text gives an equal selector.
    std::string to_string() const;

    /// Looks up a label, so that stored JSON is matched without building a map: returns null if the
    /// key is absent. The text must be valid until the next call.
    using Lookup = std::function<const std::string_view*(std::string_view key)>;
    bool matches(const Lookup& lookup) const;

    friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

  private:
    friend class LabelSelectorParser;

    enum class Op { kEquals, kNotEquals, kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
    struct Requirement {
        std::string key;
        Op op;
        std::vector<std::string> values;  ///< sorted; for kGreater and kLess one integer

        bool matches(const std::string_view* label) const;
        friend bool operator==(const Requirement&, const Requirement&) = default;
    };
    std::vector<Requirement> requirements_;
};

/// A field selector: `metadata.name=x,status.phase!=Running`. The server decides which fields a
/// resource offers. In a value `\,`, `\=` and `\\` stand for the second character.
struct FieldRequirement {
    std::string path;
    std::string value;
    bool negated = false;

    friend bool operator==(const FieldRequirement&, const FieldRequirement&) = default;
};
/// Failures are kBadRequest (apimachinery pkg/fields/selector.go).
Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text);
/// The text of these requirements.
std::string to_string(const std::vector<FieldRequirement>& requirements);

}  // namespace muster::kube
