#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace muster::cel {

// The clauses of format(): what they are, and what is said of arguments that don't fit. Upstream:
// cel-go v0.23.2, ext/formatting.go.

struct FormatClause {
    char letter;
    std::optional<int> precision;
};

/// Reads a format from its begin to its end.
class FormatReader {
  public:
    explicit FormatReader(std::string_view format) : rest_(format) {}

    /// Appends the text before the next clause; that clause, nothing at the end, or what is wrong
    /// with it.
    std::expected<std::optional<FormatClause>, std::string> next(std::string& text);

  private:
    std::string_view rest_;
};

std::string unknown_clause(char letter);
std::string missing_argument(std::size_t index);
/// An argument of this type is not for the clause of that letter.
std::string unfit_argument(char letter, std::string_view type);

}  // namespace muster::cel
