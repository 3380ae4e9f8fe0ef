#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::cli {

/// What the value of a flag of a Go program is. A switch may have "=true" or "=false", and takes no
/// word behind it.
enum class GoFlagKind { kText, kNumber, kSwitch };

struct GoFlag {
    std::string_view name;
    GoFlagKind kind = GoFlagKind::kText;
};

/// Which library reads the line: pflag, with "--name" and "-v", or the standard one, with "-name" too.
enum class GoFlagStyle { kPflag, kStandard };

/// The flags that a line has, each with its values in their order.
class GivenFlags {
  public:
    void add(std::string_view name, std::string value);

    bool has(std::string_view name) const { return values_.contains(name); }
    /// All names, sorted.
    std::vector<std::string> names() const;
    std::vector<std::string> all(std::string_view name) const;
    /// All, each of which may be several, separated by commas.
    std::vector<std::string> list(std::string_view name) const;
    /// The last one.
    std::string text(std::string_view name, std::string_view otherwise = {}) const;
    bool on(std::string_view name, bool otherwise = false) const;
    /// Of a kNumber.
    long long number(std::string_view name, long long otherwise) const;

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Reads a line as the program would that has these flags besides "help" and "h". Errors, kInvalid,
/// are in the words of its library. `program` is named where there are words that belong to no flag.
Result<GivenFlags> parse_go_flags(GoFlagStyle style, std::string_view program,
                                  const std::vector<GoFlag>& known,
                                  const std::vector<std::string>& words);

}  // namespace muster::cli
