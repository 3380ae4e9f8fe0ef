#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

/// A path into a JSON value, in the subset of JSONPath that columns of custom resources use:
/// `.a.b`, `.a\.b` and `['a.b']` (a key with a dot), `[0]`, `[-1]`, `[1:3]`, `[-1:]`, `[*]`, `.*`
/// and filters such as `[?(@.type=="Ready")]`. Immutable, any thread.
class JsonPath {
  public:
    /// With or without a leading `$`. kInvalid for any other form: the message says what was
    /// expected where.
    static Result<JsonPath> parse(std::string_view text);

    /// The values that the path leads to, in the order of the document; may be empty. The pointers
    /// are valid as long as `root`.
    std::vector<const json::value*> find(const json::value& root) const;

  private:
    struct Key {
        std::string name;
    };
    struct Item {
        std::int64_t index;  ///< negative: from the end
    };
    /// The items [begin, end) of a list; negative numbers count from its end.
    struct Slice {
        std::optional<std::int64_t> begin;
        std::optional<std::int64_t> end;
    };
    struct All {};
    enum class Test { kExists, kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
    /// The items of a list for which a test of a value in them holds.
    struct Filter {
        std::vector<std::string> keys;  ///< from the item to the tested value
        Test test = Test::kExists;
        json::value operand;
    };
    using Step = std::variant<Key, Item, Slice, All, Filter>;
    class Parser;

    static bool holds(const Filter& filter, const json::value& item);
    static void apply(const Step& step, const json::value& value,
                      std::vector<const json::value*>& found);

    std::vector<Step> steps_;
};

}  // namespace muster::kube
