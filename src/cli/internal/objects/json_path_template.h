#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"
#include "kube/values/json_path.h"

namespace muster::cli {

/// The template of `-o jsonpath=`: text with paths in braces, quoted texts with the usual escapes,
/// and ranges: `{range .items[*]}{.metadata.name}{"\n"}{end}`. A text without braces is one path.
/// Immutable, any thread.
class JsonPathTemplate {
  public:
    /// kInvalid says what is wrong where.
    static Result<JsonPathTemplate> parse(std::string_view text);

    /// Paths without a result are left out; several values are separated by a blank.
    std::string render(const json::value& root) const;

  private:
    struct Node {
        enum class Kind { kText, kPath, kRange };
        Kind kind = Kind::kText;
        std::string text{};
        std::vector<kube::JsonPath> path{};  ///< at most one; none: the value itself
        bool from_root = false;
        std::vector<Node> body{};

        std::vector<const json::value*> find(const json::value& root,
                                             const json::value& current) const;
    };
    class Parser;

    static void render(const std::vector<Node>& nodes, const json::value& root,
                       const json::value& current, std::string& out);

    std::vector<Node> nodes_;
};

/// A value in a template: a string as it is, anything else as JSON.
std::string plain_text(const json::value& value);

}  // namespace muster::cli
