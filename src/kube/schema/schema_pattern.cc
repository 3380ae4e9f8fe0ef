#include <boost/regex.hpp>
#include <stdexcept>

#include "kube/internal/schema/schema_formats.h"

namespace muster::kube {
namespace {

boost::regex compile(const std::string& pattern) {
    return boost::regex(pattern, boost::regex::perl | boost::regex::no_empty_expressions);
}

}  // namespace

bool matches_pattern(const std::string& pattern, std::string_view text) try {
    const boost::regex regex = compile(pattern);
    return boost::regex_search(text.begin(), text.end(), regex,
                               boost::match_default | boost::match_single_line);
} catch (const std::runtime_error&) {
    // boost::regex_error, or the matcher's own bound on backtracking.
    return false;
}

std::string pattern_problem(const std::string& pattern) {
    bool escaped = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (escaped) {
            escaped = false;
            if (c >= '1' && c <= '9') return "back-references are not part of RE2 syntax";
            continue;
        }
        escaped = c == '\\';
        const std::string_view rest = std::string_view(pattern).substr(i);
        if (rest.starts_with("(?=") || rest.starts_with("(?!") || rest.starts_with("(?<=") ||
            rest.starts_with("(?<!"))
            return "look-around is not part of RE2 syntax";
    }
    try {
        compile(pattern);
        return {};
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace muster::kube
