#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/yaml/source_map.h"

namespace muster::manifest {

/// Turns byte offsets of a text into lines and columns; the time for one does not depend on the
/// length of its line.
class LineIndex {
  public:
    explicit LineIndex(std::string_view text);
    /// Offsets past the end give the position of the end.
    Place at(std::size_t offset) const;
    /// The text of the line that holds `offset`, without its line break.
    std::string_view line_at(std::size_t offset) const;
    /// The same by its number, from 1; empty if there is no such line.
    std::string_view line(int number) const;

  private:
    std::size_t characters_before(std::size_t offset) const;

    std::string_view text_;
    std::vector<std::size_t> starts_;
    std::vector<std::size_t> marks_;  ///< how many characters begin before each mark
};

/// The first byte that no YAML text may have.
struct BadByte {
    std::size_t offset = 0;
    std::string what;
};
/// Well-formed UTF-8 without control characters.
std::optional<BadByte> find_bad_byte(std::string_view text);

/// The range of one document in a stream: [begin, end). Directives belong to the document that they
/// precede.
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
};
/// Cuts at lines that start with "---" or "...", which YAML reserves even inside scalars, so that
/// an error in one document does not hide those of the others. Parts with only comments are left
/// out.
std::vector<TextSpan> split_documents(std::string_view text);

/// JSON writes characters beyond U+FFFF as two \u escapes, which YAML does not know: each pair
/// becomes one \U escape. Only for a document in JSON form.
std::string join_surrogates(std::string_view json_text);

}  // namespace muster::manifest
