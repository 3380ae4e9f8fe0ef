#include "sim/internal/field_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "base/parse_number.h"
#include "kube/schema/schema.h"

namespace muster::sim {

namespace {

/// Some 30 years, so that sums of a few stay within what a Duration holds.
constexpr Duration kLongestSpan(1'000'000'000'000'000'000);

}  // namespace

std::optional<Duration> parse_span(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (text == "0") return Duration::zero();
    if (text.empty()) return std::nullopt;
    Duration sum{};
    while (!text.empty()) {
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number,
                                                  std::chars_format::fixed);
        if (error != std::errc() || number < 0 || number > 1e9) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        double nanoseconds = 0;
        for (const auto& [unit, length] : {std::pair("ms", 1e6), std::pair("s", 1e9),
                                           std::pair("m", 60e9), std::pair("h", 3600e9)}) {
            if (!text.starts_with(unit)) continue;
            nanoseconds = length;
            text.remove_prefix(std::string_view(unit).size());
            break;
        }
        if (nanoseconds == 0 || number * nanoseconds > static_cast<double>(kLongestSpan.count()))
            return std::nullopt;
        sum += Duration(static_cast<Duration::rep>(number * nanoseconds));
        if (sum > kLongestSpan) return std::nullopt;
    }
    return negative ? -sum : sum;
}

namespace {

/// Both sides of "a..b", or the whole twice.
std::pair<std::string_view, std::string_view> sides(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return {text, text};
    return {text.substr(0, dots), text.substr(dots + 2)};
}

std::optional<std::int64_t> whole(const json::value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64() && value.get_uint64() <= INT64_MAX)
        return static_cast<std::int64_t>(value.get_uint64());
    return std::nullopt;
}

}  // namespace

FieldReader::FieldReader(const json::value& value, std::string path, std::vector<Cause>& problems)
    : object_(value.if_object()), path_(std::move(path)), problems_(problems) {
    if (object_ == nullptr)
        problems_.push_back({"FieldValueTypeInvalid", "must be a map", path_.empty() ? "" : path_});
}

FieldReader::~FieldReader() {
    if (object_ == nullptr) return;
    for (const auto& field : *object_) {
        if (known_.contains(std::string_view(field.key()))) continue;
        const std::string near =
            kube::nearest_name(field.key(), std::vector<std::string>(known_.begin(), known_.end()));
        problem(field.key(), near.empty() ? "no such field"
                                          : fmt::format("no such field; did you mean {}?", near));
        problems_.back().reason = kUnknownField;
    }
}

void FieldReader::problem(std::string_view key, std::string message) {
    problems_.push_back({"FieldValueInvalid", std::move(message),
                         path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)});
}

const json::value* FieldReader::take(std::string_view key) {
    known_.emplace(key);
    const json::value* found = object_ == nullptr ? nullptr : object_->if_contains(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

void FieldReader::read(std::string_view key, int& target, int least, int most) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    const std::optional<std::int64_t> number = whole(*found);
    if (!number || *number < least || *number > most)
        return problem(key, fmt::format("must be a whole number from {} to {}", least, most));
    target = static_cast<int>(*number);
}

void FieldReader::read(std::string_view key, bool& target) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_bool()) return problem(key, "must be true or false");
    target = found->get_bool();
}

void FieldReader::read(std::string_view key, std::string& target) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_string()) return problem(key, "must be text");
    target = found->get_string();
}

void FieldReader::read(std::string_view key, Duration& target) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    const auto span =
        found->is_string() ? parse_span(found->get_string()) : std::optional<Duration>();
    if (!span || *span < Duration::zero())
        return problem(key, "must be a time span such as 90s, 1h30m or 500ms");
    target = *span;
}

void FieldReader::read(std::string_view key, DurationRange& target) {
    read_range(key, target, Duration::zero());
}

void FieldReader::read_shift(std::string_view key, DurationRange& target) {
    read_range(key, target, -kLongestSpan);
}

void FieldReader::read_range(std::string_view key, DurationRange& target, Duration smallest) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    std::optional<Duration> least;
    std::optional<Duration> most;
    if (found->is_string()) {
        const auto [first, second] = sides(found->get_string());
        least = parse_span(first);
        most = parse_span(second);
    }
    if (!least || !most || *least < smallest || *most < *least)
        return problem(key, "must be a time span or a range of two, such as 5s..2m");
    target = {*least, *most};
}

void FieldReader::read(std::string_view key, std::pair<int, int>& target) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    std::optional<int> least;
    std::optional<int> most;
    if (found->is_string()) {
        const auto [first, second] = sides(found->get_string());
        least = parse_number<int>(first);
        most = parse_number<int>(second);
    } else if (const auto number = whole(*found); number && *number <= 1'000'000) {
        least = most = static_cast<int>(*number);
    }
    if (!least || !most || *least < 0 || *most < *least)
        return problem(key, "must be a number or a range of two, such as 1..4");
    target = {*least, *most};
}

void FieldReader::read_probability(std::string_view key, double& target) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    const double number = found->is_double() ? found->get_double()
                          : whole(*found)    ? static_cast<double>(*whole(*found))
                                             : -1;
    if (!(number >= 0 && number <= 1)) return problem(key, "must be a probability, from 0 to 1");
    target = number;
}

void FieldReader::read_words(std::string_view key, std::vector<std::string>& target,
                             const std::vector<std::string>& allowed) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    std::vector<std::string> words;
    const json::array one{*found};
    for (const json::value& item : found->is_array() ? found->get_array() : one) {
        const std::string word(item.is_string() ? std::string_view(item.get_string()) : "");
        bool known = false;
        for (const std::string& each : allowed) known |= each == word;
        if (!known) return problem(key, fmt::format("must be of {}", fmt::join(allowed, ", ")));
        words.push_back(word);
    }
    if (words.empty()) return problem(key, "must not be empty");
    target = std::move(words);
}

void FieldReader::read_with(
    std::string_view key,
    const std::function<void(const json::value&, const std::string& path)>& read) {
    const json::value* found = take(key);
    if (found == nullptr) return;
    read(*found, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

}  // namespace muster::sim
