#include <boost/regex.hpp>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "kube/internal/schema/schema_formats.h"

namespace muster::kube {
namespace {

boost::regex compile(const std::string& pattern) {
    return boost::regex(pattern, boost::regex::perl | boost::regex::no_empty_expressions);
}

/// The matcher goes back and forth in a text, and its own bound grows with the square of its length.
/// This reads the text for it, and ends it when it has read as much as a comparison may cost.
class CountedIterator {
  public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountedIterator() = default;
    CountedIterator(const char* at, std::size_t* left) : at_(at), left_(left) {}

    reference operator*() const {
        if (*left_ == 0) throw std::runtime_error("the comparison takes too long");
        --*left_;
        return *at_;
    }
    CountedIterator& operator++() {
        ++at_;
        return *this;
    }
    CountedIterator operator++(int) {
        CountedIterator before = *this;
        ++at_;
        return before;
    }
    CountedIterator& operator--() {
        --at_;
        return *this;
    }
    CountedIterator operator--(int) {
        CountedIterator before = *this;
        --at_;
        return before;
    }
    friend bool operator==(const CountedIterator& a, const CountedIterator& b) {
        return a.at_ == b.at_;
    }

  private:
    const char* at_ = nullptr;
    std::size_t* left_ = nullptr;
};

struct Compiled {
    std::string pattern;
    std::optional<boost::regex> regex;  ///< unset: it can't be compiled
};

/// A list has one pattern for all of its items.
const Compiled& last_compiled(const std::string& pattern) {
    static thread_local Compiled last;
    if (last.pattern == pattern) return last;
    last.regex.reset();
    last.pattern = pattern;
    try {
        last.regex = compile(pattern);
    } catch (const std::runtime_error&) {
        // A definition with such a pattern is refused; this one comes from elsewhere.
    }
    return last;
}

}  // namespace

PatternMatch match_pattern(const std::string& pattern, std::string_view text) try {
    constexpr std::size_t kReadsOfEach = 16;
    constexpr std::size_t kMoreReads = 200'000;
    const Compiled& compiled = last_compiled(pattern);
    if (!compiled.regex) return PatternMatch::kDiffers;
    std::size_t left = kReadsOfEach * text.size() + kMoreReads;
    const bool found = boost::regex_search(
        CountedIterator(text.data(), &left), CountedIterator(text.data() + text.size(), &left),
        *compiled.regex, boost::match_default | boost::match_single_line);
    return found ? PatternMatch::kMatches : PatternMatch::kDiffers;
} catch (const std::runtime_error&) {
    return PatternMatch::kTooComplex;
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
