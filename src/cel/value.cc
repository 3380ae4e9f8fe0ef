#include "cel/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

/// Lists one after the other: to add is not to copy their elements.
class JoinedList final : public List {
  public:
    JoinedList(const std::shared_ptr<const List>& first,
               const std::shared_ptr<const List>& second) {
        append(first);
        append(second);
    }
    std::size_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
    Value at(std::size_t index) const override {
        const auto piece =
            static_cast<std::size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
        return pieces_[piece]->at(piece == 0 ? index : index - ends_[piece - 1]);
    }

  private:
    void append(const std::shared_ptr<const List>& list) {
        if (const auto* joined = dynamic_cast<const JoinedList*>(list.get())) {
            for (const auto& piece : joined->pieces_) append(piece);
            return;
        }
        pieces_.push_back(list);
        ends_.push_back(size() + list->size());
    }

    std::vector<std::shared_ptr<const List>> pieces_;
    std::vector<std::size_t> ends_;  ///< of each piece, where the next one begins
};

thread_local std::uint64_t t_comparisons_left = std::numeric_limits<std::uint64_t>::max();

/// False once the limit is reached.
bool may_compare() {
    if (t_comparisons_left > 0) --t_comparisons_left;
    return t_comparisons_left > 0;
}

class IndexedList final : public List {
  public:
    IndexedList(std::vector<Value> elements, std::unordered_set<std::string> index)
        : elements_(std::move(elements)), index_(std::move(index)) {}
    std::size_t size() const override { return elements_.size(); }
    Value at(std::size_t index) const override { return elements_[index]; }
    bool contains(const Value& value) const override {
        const std::optional<std::string> text = hash_text(value);
        return text && index_.contains(*text);
    }

  private:
    std::vector<Value> elements_;
    std::unordered_set<std::string> index_;
};

int sign(auto a, auto b) { return a < b ? -1 : (a > b ? 1 : 0); }

constexpr double kTwo63 = 9223372036854775808.0;
constexpr double kTwo64 = 18446744073709551616.0;

// As cel-go compares numbers of two types (common/types/compare.go): what is beyond the other's
// range is less or more, the rest is compared as doubles.
int order(double a, std::int64_t b) {
    if (a < -kTwo63) return -1;
    if (a > kTwo63) return 1;
    return sign(a, static_cast<double>(b));
}
int order(double a, std::uint64_t b) {
    if (a < 0) return -1;
    if (a > kTwo64) return 1;
    return sign(a, static_cast<double>(b));
}
int order(std::int64_t a, std::uint64_t b) {
    return a < 0 ? -1 : sign(static_cast<std::uint64_t>(a), b);
}

bool is_nan(const Value& value) {
    const double* number = value.as<double>();
    return number != nullptr && std::isnan(*number);
}

/// Of two numbers that are not NaN; nullopt if one is of another type.
std::optional<int> order_of_numbers(const Value& a, const Value& b) {
    return std::visit(
        [](const auto& x, const auto& y) -> std::optional<int> {
            using X = std::decay_t<decltype(x)>;
            using Y = std::decay_t<decltype(y)>;
            constexpr bool kNumbers = (std::same_as<X, std::int64_t> ||
                                       std::same_as<X, std::uint64_t> || std::same_as<X, double>) &&
                                      (std::same_as<Y, std::int64_t> ||
                                       std::same_as<Y, std::uint64_t> || std::same_as<Y, double>);
            if constexpr (!kNumbers)
                return std::nullopt;
            else if constexpr (std::same_as<X, Y>)
                return sign(x, y);
            else if constexpr (std::same_as<X, double>)
                return order(x, y);
            else if constexpr (std::same_as<Y, double>)
                return -order(y, x);
            else if constexpr (std::same_as<X, std::int64_t>)
                return order(x, y);
            else
                return -order(y, x);
        },
        a.storage(), b.storage());
}

bool equal_maps(const Map& a, const Map& b) {
    if (a.size() != b.size() || a.type_name().empty() != b.type_name().empty()) return false;
    bool same = true;
    a.for_each([&](const Value& key, const Value& value) {
        const std::optional<Value> other = b.find(key);
        same = other && equal(value, *other);
        return same;
    });
    return same;
}

}  // namespace

std::optional<Value> OwnMap::find(const Value& key) const {
    const std::optional<std::string> hash = hash_text(key);
    if (!hash) return std::nullopt;
    const auto it = index_.find(*hash);
    if (it == index_.end()) return std::nullopt;
    return entries_[it->second].second;
}

std::optional<Value> OwnMap::field(std::string_view name) const { return find(Text::of(name)); }

void OwnMap::for_each(
    const std::function<bool(const Value& key, const Value& value)>& visit) const {
    for (const auto& [key, value] : entries_)
        if (!visit(key, value)) return;
}

bool OwnMap::insert(const Value& key, Value value) {
    const std::optional<std::string> hash = hash_text(key);
    if (!hash || !index_.try_emplace(*hash, entries_.size()).second) return false;
    entries_.emplace_back(key, std::move(value));
    return true;
}

void OwnMap::set(const Value& key, Value value) {
    const auto [it, fresh] = index_.try_emplace(hash_text(key).value(), entries_.size());
    if (fresh)
        entries_.emplace_back(key, std::move(value));
    else
        entries_[it->second].second = std::move(value);
}

bool List::contains(const Value& value) const {
    for (std::size_t i = 0; i < size(); ++i)
        if (equal(at(i), value)) return true;
    return false;
}

bool List::equals(const List& other) const {
    if (size() != other.size()) return false;
    for (std::size_t i = 0; i < size(); ++i)
        if (!equal(at(i), other.at(i))) return false;
    return true;
}

Outcome List::plus(const std::shared_ptr<const List>& self,
                   const std::shared_ptr<const List>& other) const {
    if (self->size() == 0) return Value(other);
    if (other->size() == 0) return Value(self);
    return Value(std::shared_ptr<const List>(std::make_shared<JoinedList>(self, other)));
}

Value Value::list(std::vector<Value> elements) {
    return std::shared_ptr<const List>(std::make_shared<OwnList>(std::move(elements)));
}
Value Value::map(std::vector<std::pair<Value, Value>> entries) {
    auto map = std::make_shared<OwnMap>();
    for (auto& [key, value] : entries) map->set(key, std::move(value));
    return std::shared_ptr<const Map>(std::move(map));
}
Value Value::some(Value value) {
    return std::make_shared<const std::optional<Value>>(std::move(value));
}
Value Value::none() { return std::make_shared<const std::optional<Value>>(); }

std::string Value::type_name() const {
    struct Namer {
        std::string operator()(const Null&) const { return "null_type"; }
        std::string operator()(bool) const { return "bool"; }
        std::string operator()(std::int64_t) const { return "int"; }
        std::string operator()(std::uint64_t) const { return "uint"; }
        std::string operator()(double) const { return "double"; }
        std::string operator()(const Text&) const { return "string"; }
        std::string operator()(const Bytes&) const { return "bytes"; }
        std::string operator()(const Duration&) const { return "google.protobuf.Duration"; }
        std::string operator()(const Timestamp&) const { return "google.protobuf.Timestamp"; }
        std::string operator()(const std::shared_ptr<const List>&) const { return "list"; }
        std::string operator()(const std::shared_ptr<const Map>& map) const {
            return map->type_name().empty() ? "map" : std::string(map->type_name());
        }
        std::string operator()(const TypeName&) const { return "type"; }
        std::string operator()(const Optional&) const { return "optional_type"; }
        std::string operator()(const std::shared_ptr<const Opaque>& held) const {
            return std::string(held->type_name());
        }
        std::string operator()(const Unreadable&) const { return "error"; }
    };
    return std::visit(Namer{}, storage_);
}

std::uint64_t Value::size() const {
    if (const Text* characters = string()) return code_points(characters->view());
    if (const Bytes* bytes = as<Bytes>()) return bytes->text.view().size();
    if (const List* elements = list()) return elements->size();
    if (const Map* entries = map()) return entries->size();
    if (const Optional* held = as<Optional>(); held && **held) return (**held)->size();
    return 1;
}

std::optional<Value> indexed_list(std::vector<Value> elements) {
    std::unordered_set<std::string> index;
    for (const Value& element : elements) {
        std::optional<std::string> text = hash_text(element);
        if (!text) return std::nullopt;
        index.insert(*std::move(text));
    }
    return std::shared_ptr<const List>(
        std::make_shared<IndexedList>(std::move(elements), std::move(index)));
}

ComparisonLimit::ComparisonLimit(std::uint64_t most)
    : before_(std::exchange(t_comparisons_left, most)) {}
ComparisonLimit::~ComparisonLimit() { t_comparisons_left = before_; }
bool ComparisonLimit::is_reached() const { return t_comparisons_left == 0; }

bool equal(const Value& a, const Value& b) {
    if (!may_compare()) return false;
    if (is_nan(a) || is_nan(b)) return false;
    if (const std::optional<int> numbers = order_of_numbers(a, b)) return *numbers == 0;
    if (a.storage().index() != b.storage().index()) return false;
    if (const List* list = a.list()) return list->equals(*b.list());
    if (const Map* map = a.map()) return equal_maps(*map, *b.map());
    if (const auto* name = a.as<TypeName>()) return name->name == b.as<TypeName>()->name;
    if (const auto* held = a.as<Value::Optional>()) {
        const auto& other = *b.as<Value::Optional>();
        return (*held)->has_value() == other->has_value() &&
               (!(*held)->has_value() || equal(***held, **other));
    }
    if (const auto* held = a.as<std::shared_ptr<const Opaque>>()) {
        const auto& other = *b.as<std::shared_ptr<const Opaque>>();
        return (*held)->type_name() == other->type_name() && (*held)->content() == other->content();
    }
    if (a.as<Value::Unreadable>() != nullptr) return false;
    if (a.is_null()) return true;
    const std::expected<int, Failure> order = compare(a, b);
    return order && *order == 0;
}

std::expected<int, Failure> compare(const Value& a, const Value& b) {
    if (order_of_numbers(a, b)) {
        if (is_nan(a) || is_nan(b)) return failure("NaN values cannot be ordered");
        return *order_of_numbers(a, b);
    }
    // cel-go looks at a double before it looks at what that is compared with.
    if (is_nan(a)) return failure("NaN values cannot be ordered");
    if (a.storage().index() != b.storage().index()) return no_such_overload();
    if (const bool* flag = a.as<bool>()) return sign(*flag, *b.as<bool>());
    if (const Text* text = a.string()) return sign(text->view(), b.string()->view());
    if (const Bytes* bytes = a.as<Bytes>())
        return sign(bytes->text.view(), b.as<Bytes>()->text.view());
    if (const Duration* duration = a.as<Duration>())
        return sign(duration->nanoseconds, b.as<Duration>()->nanoseconds);
    if (const Timestamp* time = a.as<Timestamp>()) {
        const Timestamp& other = *b.as<Timestamp>();
        const int seconds = sign(time->seconds, other.seconds);
        return seconds != 0 ? seconds : sign(time->nanoseconds, other.nanoseconds);
    }
    return no_such_overload();
}

std::optional<std::string> hash_text(const Value& value) {
    if (const Text* text = value.string()) return "s" + std::string(text->view());
    if (const bool* flag = value.as<bool>()) return *flag ? "t" : "f";
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("n{}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("n{}", *number);
    if (const double* number = value.as<double>()) {
        if (*number != std::trunc(*number) || std::abs(*number) >= kTwo63) return std::nullopt;
        return fmt::format("n{}", static_cast<std::int64_t>(*number));
    }
    return std::nullopt;
}

namespace {

/// Of a value that is neither a scalar of hash_text() nor has parts.
std::string own_content(const Value& value) {
    if (const Bytes* bytes = value.as<Bytes>()) return std::string(bytes->text.view());
    if (const auto* duration = value.as<Duration>())
        return fmt::format("{}", duration->nanoseconds);
    if (const auto* time = value.as<Timestamp>())
        return fmt::format("{}.{}", time->seconds, time->nanoseconds);
    if (const auto* name = value.as<TypeName>()) return name->name;
    if (const auto* held = value.as<Value::Optional>())
        return (*held)->has_value() ? content_text(***held) : std::string();
    if (const auto* held = value.as<std::shared_ptr<const Opaque>>()) return (*held)->content();
    return {};
}

}  // namespace

std::string content_text(const Value& value) {
    if (!may_compare()) return {};
    if (const std::optional<std::string> scalar = hash_text(value))
        return fmt::format("{}:{}", scalar->size(), *scalar);
    if (const double* number = value.as<double>()) return fmt::format("d{}", *number);
    std::string text;
    if (const List* list = value.list()) {
        text = "[";
        for (std::size_t i = 0; i < list->size(); ++i) text += content_text(list->at(i));
        return text + "]";
    }
    if (const Map* map = value.map()) {
        std::map<std::string, std::string> sorted;
        map->for_each([&](const Value& key, const Value& held) {
            sorted.emplace(content_text(key), content_text(held));
            return true;
        });
        text = "{";
        for (const auto& [key, held] : sorted) text += key + held;
        return text + "}";
    }
    return fmt::format("{}({})", value.type_name(), own_content(value));
}

std::uint64_t code_points(std::string_view text) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

}  // namespace muster::cel
