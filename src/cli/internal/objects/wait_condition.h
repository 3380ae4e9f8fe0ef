#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "kube/values/json.h"
#include "kube/values/json_path.h"

namespace muster::cli {

/// The condition of `muster wait --for`. Immutable.
class WaitCondition {
  public:
    /// "condition=Ready", "condition=Ready=False", "delete", "jsonpath={.status.phase}=Running",
    /// "jsonpath=.status.loadBalancer" (that it exists).
    static Result<WaitCondition> parse(std::string_view text);

    bool is_deletion() const { return std::holds_alternative<Deletion>(wanted_); }

    struct Answer {
        bool met = false;
        bool never = false;  ///< it can't be met any more
        std::string now;     ///< what is instead: "condition Ready is False (...)"
    };
    /// Whether an existing object meets the condition. Pure.
    Answer ask(const json::value& object) const;

  private:
    struct Deletion {};
    struct Condition {
        std::string type;
        std::string status;
    };
    struct Path {
        std::string text;
        kube::JsonPath path;
        std::optional<std::string> value;  ///< none: anything
    };

    static Result<WaitCondition> parse_path(std::string_view text);
    static Answer ask(const Condition& condition, const json::object& object);
    static Answer ask(const Path& path, const json::value& object);

    std::variant<Deletion, Condition, Path> wanted_;
};

}  // namespace muster::cli
