#include "kube/values/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>

namespace muster::kube {

/// Parses a path from its front. Each method leaves `at_` after what it read, or at what it could
/// not read.
class JsonPath::Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<JsonPath> parse() {
        JsonPath path;
        literal("$");
        if (done()) return wrong("a path");
        while (!done()) {
            TRY(Step step, next_step());
            path.steps_.push_back(std::move(step));
        }
        return path;
    }

  private:
    bool done() const { return at_ == text_.size(); }
    bool ahead(char c) const { return !done() && text_[at_] == c; }
    bool literal(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    void blanks() {
        while (ahead(' ')) ++at_;
    }
    Error wrong(std::string_view wanted) const {
        const std::string found = done() ? "the end" : fmt::format("'{}'", shown());
        return Error(Code::kInvalid,
                     fmt::format("is an invalid JSON path: expected {} at offset {}, found {}",
                                 wanted, at_, found));
    }

    /// The next few bytes, up to the end of a code point.
    std::string_view shown() const {
        std::size_t end = std::min(text_.size(), at_ + kShownBytes);
        const std::size_t furthest = std::min(text_.size(), end + kMoreBytesOfCodePoint);
        while (end < furthest && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
        return text_.substr(at_, end - at_);
    }

    Result<Step> next_step() {
        if (literal("..")) {
            at_ -= 2;
            return wrong("one dot (recursive descent is not supported)");
        }
        if (literal(".*")) return Step(All{});
        if (literal("[")) return bracket();
        if (!literal(".")) return wrong("'.' or '['");
        TRY(std::string name, bare_key());
        return Step(Key{std::move(name)});
    }

    /// Up to the next step; a backslash removes the meaning of the next character.
    Result<std::string> bare_key() {
        std::string name;
        while (!done()) {
            const char c = text_[at_];
            if (c == '\\' && at_ + 1 < text_.size()) {
                name += text_[at_ + 1];
                at_ += 2;
                continue;
            }
            if (kEndsKey.find(c) != std::string_view::npos) break;
            name += c;
            ++at_;
        }
        if (name.empty()) return wrong("a field's name");
        return name;
    }

    Result<Step> bracket() {
        if (literal("*]")) return Step(All{});
        if (ahead('\'') || ahead('"')) {
            TRY(std::string name, quoted());
            if (!literal("]")) return wrong("']'");
            return Step(Key{std::move(name)});
        }
        if (literal("?(")) return filter();
        TRY(const std::optional<std::int64_t> first, number());
        if (literal("]")) {
            if (!first) return wrong("an index before ']'");
            return Step(Item{*first});
        }
        if (!literal(":")) return wrong("an index, a slice, '*', a quoted key or '?('");
        TRY(const std::optional<std::int64_t> end, number());
        if (!literal("]")) return wrong("']' (a slice's step is not supported)");
        return Step(Slice{first, end});
    }

    Result<std::optional<std::int64_t>> number() {
        std::int64_t value = 0;
        const char* const start = text_.data() + at_;
        const auto [end, problem] = std::from_chars(start, text_.data() + text_.size(), value);
        if (problem == std::errc::result_out_of_range) return wrong("a smaller number");
        if (problem != std::errc()) return std::optional<std::int64_t>();
        at_ += static_cast<std::size_t>(end - start);
        return std::optional<std::int64_t>(value);
    }

    Result<std::string> quoted() {
        const char quote = text_[at_++];
        std::string name;
        while (!done() && text_[at_] != quote) {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            name += text_[at_++];
        }
        if (done()) return wrong("a closing quote");
        ++at_;
        return name;
    }

    /// After "?(": `@.a.b=="text")]`.
    Result<Step> filter() {
        Filter filter;
        blanks();
        if (!literal("@")) return wrong("'@'");
        while (literal(".")) {
            TRY(std::string name, bare_key());
            filter.keys.push_back(std::move(name));
        }
        blanks();
        if (literal("==")) {
            filter.test = Test::kEqual;
        } else if (literal("!=")) {
            filter.test = Test::kNotEqual;
        } else if (literal("<=")) {
            filter.test = Test::kLessEqual;
        } else if (literal(">=")) {
            filter.test = Test::kGreaterEqual;
        } else if (literal("<")) {
            filter.test = Test::kLess;
        } else if (literal(">")) {
            filter.test = Test::kGreater;
        }
        if (filter.test != Test::kExists) {
            blanks();
            TRY(filter.operand, operand());
            blanks();
        }
        if (!literal(")]")) return wrong("a comparison or ')]'");
        return Step(std::move(filter));
    }

    Result<json::value> operand() {
        if (ahead('\'') || ahead('"')) {
            TRY(const std::string text, quoted());
            return json::value(text);
        }
        if (literal("true")) return json::value(true);
        if (literal("false")) return json::value(false);
        double value = 0;
        const char* const start = text_.data() + at_;
        const auto [end, problem] = std::from_chars(start, text_.data() + text_.size(), value);
        if (problem != std::errc() || !std::isfinite(value))
            return wrong("a quoted text, a number, true or false");
        at_ += static_cast<std::size_t>(end - start);
        return json::value(value);
    }

    static constexpr std::size_t kShownBytes = 20;
    static constexpr std::size_t kMoreBytesOfCodePoint = 3;
    /// Ends a key, in a filter as well as in a step.
    static constexpr std::string_view kEndsKey = ".[]()=!<>,{}@$'\" ";

    std::string_view text_;
    std::size_t at_ = 0;
};

namespace {

std::optional<double> number_of(const json::value& value) {
    if (const std::int64_t* number = value.if_int64()) return static_cast<double>(*number);
    if (const std::uint64_t* number = value.if_uint64()) return static_cast<double>(*number);
    if (const double* number = value.if_double()) return *number;
    return std::nullopt;
}

/// Negative, zero, positive; nothing if the two are not of the same ordered type.
std::optional<int> compare(const json::value& a, const json::value& b) {
    if (a.is_string() && b.is_string()) return a.get_string().compare(b.get_string());
    if (a.is_bool() && b.is_bool()) return int(a.get_bool()) - int(b.get_bool());
    const std::optional<double> left = number_of(a);
    const std::optional<double> right = number_of(b);
    if (!left || !right) return std::nullopt;
    return *left < *right ? -1 : *left > *right ? 1 : 0;
}

/// The position of an index in a list of `size` items, which may be outside of it.
std::int64_t position(std::int64_t index, std::size_t size) {
    return index < 0 ? index + static_cast<std::int64_t>(size) : index;
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) { return Parser(text).parse(); }

std::vector<const json::value*> JsonPath::find(const json::value& root) const {
    std::vector<const json::value*> found{&root};
    for (const Step& step : steps_) {
        std::vector<const json::value*> next;
        for (const json::value* value : found) apply(step, *value, next);
        found = std::move(next);
    }
    return found;
}

bool JsonPath::holds(const Filter& filter, const json::value& item) {
    const json::value* value = &item;
    for (const std::string& key : filter.keys) {
        const json::object* object = value->if_object();
        value = object == nullptr ? nullptr : object->if_contains(key);
        if (value == nullptr) return false;
    }
    const std::optional<int> order = compare(*value, filter.operand);
    switch (filter.test) {
        case Test::kExists:
            return true;
        case Test::kEqual:
            return order == 0;
        case Test::kNotEqual:
            return order != 0;
        case Test::kLess:
            return order && *order < 0;
        case Test::kLessEqual:
            return order && *order <= 0;
        case Test::kGreater:
            return order && *order > 0;
        case Test::kGreaterEqual:
            return order && *order >= 0;
    }
    return false;
}

void JsonPath::apply(const Step& step, const json::value& value,
                     std::vector<const json::value*>& found) {
    if (const Key* key = std::get_if<Key>(&step)) {
        const json::object* object = value.if_object();
        const json::value* field = object == nullptr ? nullptr : object->if_contains(key->name);
        if (field != nullptr) found.push_back(field);
        return;
    }
    if (const json::object* object = value.if_object()) {
        if (std::holds_alternative<All>(step))
            for (const auto& [name, field] : *object) found.push_back(&field);
        return;
    }
    const json::array* list = value.if_array();
    if (list == nullptr) return;
    const auto size = static_cast<std::int64_t>(list->size());
    if (const Item* item = std::get_if<Item>(&step)) {
        const std::int64_t at = position(item->index, list->size());
        if (at >= 0 && at < size) found.push_back(&(*list)[static_cast<std::size_t>(at)]);
    } else if (const Slice* slice = std::get_if<Slice>(&step)) {
        const std::int64_t begin =
            std::max<std::int64_t>(0, position(slice->begin.value_or(0), list->size()));
        const std::int64_t end = std::min(size, position(slice->end.value_or(size), list->size()));
        for (std::int64_t at = begin; at < end; ++at)
            found.push_back(&(*list)[static_cast<std::size_t>(at)]);
    } else if (const Filter* filter = std::get_if<Filter>(&step)) {
        for (const json::value& entry : *list)
            if (holds(*filter, entry)) found.push_back(&entry);
    } else {
        for (const json::value& entry : *list) found.push_back(&entry);
    }
}

}  // namespace muster::kube
