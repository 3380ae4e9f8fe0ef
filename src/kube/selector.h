#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::kube {

/// A label selector in its text form: `a=b,c!=d,e in (f,g),h,!i,j>3`.
class LabelSelector {
  public:
    static Result<LabelSelector> parse(std::string_view text);
    /// All pairs must be equal.
    static LabelSelector from_map(const std::map<std::string, std::string>& pairs);

    bool matches(const std::map<std::string, std::string>& labels) const;
    bool empty() const { return requirements_.empty(); }
    std::string to_string() const;

    /// Labels by lookup, so that stored JSON is matched without building a map: returns null when
    /// the key is absent.
    using Lookup = std::function<const std::string_view*(std::string_view key)>;
    bool matches(const Lookup& lookup) const;

  private:
    enum class Op { kEquals, kNotEquals, kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
    struct Requirement {
        std::string key;
        Op op;
        std::vector<std::string> values;
    };
    std::vector<Requirement> requirements_;
};

/// A field selector: `metadata.name=x,status.phase!=Running`. Which fields a resource offers is the
/// server's business.
struct FieldRequirement {
    std::string path;
    std::string value;
    bool negated = false;
};
Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text);

}  // namespace muster::kube
