#include "operator/internal/members/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/parse_number.h"

namespace muster::operators {
namespace {

constexpr std::int32_t kBits = 64;

std::size_t word_of(std::int32_t index) { return static_cast<std::size_t>(index / kBits); }
std::uint64_t bit_of(std::int32_t index) { return std::uint64_t{1} << (index % kBits); }

/// Negative if it is not an index.
std::int32_t read_index(std::string_view text) {
    return parse_number<std::int32_t>(text).value_or(-1);
}

}  // namespace

IndexSet& IndexSet::operator=(const IndexSet& other) {
    first_ = other.first_;
    rest_ = other.rest_ ? std::make_unique<std::vector<std::uint64_t>>(*other.rest_) : nullptr;
    size_ = other.size_;
    return *this;
}

std::uint64_t& IndexSet::grown_word(std::size_t at) {
    if (at == 0) return first_;
    if (!rest_) rest_ = std::make_unique<std::vector<std::uint64_t>>();
    if (rest_->size() < at) rest_->resize(at);
    return (*rest_)[at - 1];
}

void IndexSet::insert(std::int32_t index) {
    std::uint64_t& word = grown_word(word_of(index));
    if ((word & bit_of(index)) != 0) return;
    word |= bit_of(index);
    ++size_;
}

void IndexSet::erase(std::int32_t index) {
    if (!contains(index)) return;
    grown_word(word_of(index)) &= ~bit_of(index);
    --size_;
}

bool IndexSet::contains(std::int32_t index) const {
    const std::size_t at = word_of(index);
    return at < words() && (word(at) & bit_of(index)) != 0;
}

std::int32_t IndexSet::next(std::int32_t from) const {
    std::size_t at = word_of(from);
    if (empty() || at >= words()) return -1;
    std::uint64_t bits = word(at) & (~std::uint64_t{0} << (from % kBits));
    while (bits == 0) {
        if (++at >= words()) return -1;
        bits = word(at);
    }
    return static_cast<std::int32_t>(at) * kBits + std::countr_zero(bits);
}

bool operator==(const IndexSet& a, const IndexSet& b) {
    if (a.size_ != b.size_) return false;
    // With equal sizes, words beyond the shorter one's are empty if all the others are equal.
    for (std::size_t at = 0; at < std::min(a.words(), b.words()); ++at)
        if (a.word(at) != b.word(at)) return false;
    return true;
}

IndexSet IndexSet::parse(std::string_view text, std::int32_t limit) {
    IndexSet set;
    std::int32_t left = 2 * limit;  // a text that repeats itself is not read to its end
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const std::size_t dash = part.find('-');
        const std::int32_t first = read_index(part.substr(0, dash));
        const std::int32_t last =
            dash == std::string_view::npos ? first : read_index(part.substr(dash + 1));
        if (first < 0) continue;
        for (std::int32_t index = first; index <= last && index < limit; ++index) {
            if (--left < 0) return set;
            set.insert(index);
        }
    }
    return set;
}

std::string IndexSet::to_string() const {
    std::string text;
    for (std::int32_t first = next(0); first >= 0;) {
        std::int32_t last = first;
        while (contains(last + 1)) ++last;
        if (!text.empty()) text += ',';
        text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        first = next(last + 1);
    }
    return text;
}

}  // namespace muster::operators
