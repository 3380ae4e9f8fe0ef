#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace muster::cel {

class Value;

/// Why an expression has no value. The text is cel-go's where clients show it.
struct Failure {
    std::string text;
    bool over_limit = false;  ///< of costs: nothing else is evaluated
};
using Outcome = std::expected<Value, Failure>;

inline std::unexpected<Failure> failure(std::string text) {
    return std::unexpected(Failure{.text = std::move(text)});
}
inline std::unexpected<Failure> no_such_overload() { return failure("no such overload"); }

/// Characters of its own, or of a document that something else keeps.
class Text {
  public:
    Text() = default;
    explicit Text(std::string own)
        : owner_(std::make_shared<const std::string>(std::move(own))), view_(*owner_) {}
    /// Refers to `kept`.
    static Text of(std::string_view kept) {
        Text text;
        text.view_ = kept;
        return text;
    }
    std::string_view view() const { return view_; }

  private:
    std::shared_ptr<const std::string> owner_;
    std::string_view view_;
};

struct Bytes {
    Text text;
};
struct Duration {
    std::int64_t nanoseconds = 0;
};
/// Seconds since 1970 and nanoseconds of them (0 to 999,999,999), from the year 1 to 9999.
struct Timestamp {
    std::int64_t seconds = 0;
    std::int32_t nanoseconds = 0;
};
/// A type as a value, known by its name.
struct TypeName {
    std::string name;
};

class List {
  public:
    virtual ~List() = default;
    virtual std::size_t size() const = 0;
    virtual Value at(std::size_t index) const = 0;
    /// Looks at each, but in a list that has an index.
    virtual bool contains(const Value& value) const;
    /// In any order, if both are of a kind of list that has none.
    virtual bool equals(const List& other) const;
    virtual Outcome plus(const std::shared_ptr<const List>& self,
                         const std::shared_ptr<const List>& other) const;
};

/// A map, or an object with fields.
class Map {
  public:
    virtual ~Map() = default;
    virtual std::size_t size() const = 0;
    virtual std::optional<Value> find(const Value& key) const = 0;
    /// The field of that name, as CEL writes it.
    virtual std::optional<Value> field(std::string_view name) const = 0;
    /// Until `visit` returns false.
    virtual void for_each(
        const std::function<bool(const Value& key, const Value& value)>& visit) const = 0;
    /// Of an object: the name of its type. "": a map.
    virtual std::string_view type_name() const { return {}; }
};

/// A value of a library.
class Opaque {
  public:
    virtual ~Opaque() = default;
    virtual std::string_view type_name() const = 0;
    /// The same text for equal values, and another one for others.
    virtual std::string content() const = 0;
    /// False: `x == value` fails as having no overload. Sums of quantities do, upstream: a pointer
    /// stands where Equal expects a value (k8s.io/apiserver v0.33, pkg/cel/quantity.go).
    virtual bool is_right_operand_of_equality() const { return true; }
};

/// A value of an expression. Copies are cheap. Those that were made from a document refer to it.
class Value {
  public:
    struct Null {};
    using Optional = std::shared_ptr<const std::optional<Value>>;
    /// Data that can't be read as its declaration says. Who reads it fails.
    using Unreadable = std::shared_ptr<const Failure>;
    using Storage =
        std::variant<Null, bool, std::int64_t, std::uint64_t, double, Text, Bytes, Duration,
                     Timestamp, std::shared_ptr<const List>, std::shared_ptr<const Map>, TypeName,
                     Optional, std::shared_ptr<const Opaque>, Unreadable>;

    Value() = default;  ///< null
    template <class T>
        requires std::constructible_from<Storage, T&&> && (!std::same_as<std::decay_t<T>, Value>)
    Value(T&& value)  // NOLINT(google-explicit-constructor): each of them is a value
        : storage_(std::forward<T>(value)) {}
    static Value text(std::string own) { return Text(std::move(own)); }
    static Value list(std::vector<Value> elements);
    /// Of two equal keys the later counts.
    static Value map(std::vector<std::pair<Value, Value>> entries);
    static Value some(Value value);
    static Value none();

    template <class T>
    const T* as() const {
        return std::get_if<T>(&storage_);
    }
    const Storage& storage() const { return storage_; }
    /// The characters; nullptr if it is not a string.
    const Text* string() const { return as<Text>(); }
    const List* list() const {
        const auto* held = as<std::shared_ptr<const List>>();
        return held ? held->get() : nullptr;
    }
    const Map* map() const {
        const auto* held = as<std::shared_ptr<const Map>>();
        return held ? held->get() : nullptr;
    }
    template <class T>
    const T* opaque() const {
        const auto* held = as<std::shared_ptr<const Opaque>>();
        return held ? dynamic_cast<const T*>(held->get()) : nullptr;
    }
    bool is_null() const { return as<Null>() != nullptr; }

    std::string type_name() const;
    /// What size() says of strings (code points), bytes, lists and maps; of others 1.
    std::uint64_t size() const;

  private:
    Storage storage_;
};

/// A list of its own elements.
class OwnList final : public List {
  public:
    explicit OwnList(std::vector<Value> elements) : elements_(std::move(elements)) {}
    std::size_t size() const override { return elements_.size(); }
    Value at(std::size_t index) const override { return elements_[index]; }
    const std::vector<Value>& elements() const { return elements_; }
    std::vector<Value>& elements() { return elements_; }

  private:
    std::vector<Value> elements_;
};

/// A map of its own entries, in their order.
class OwnMap final : public Map {
  public:
    std::size_t size() const override { return entries_.size(); }
    std::optional<Value> find(const Value& key) const override;
    std::optional<Value> field(std::string_view name) const override;
    void for_each(
        const std::function<bool(const Value& key, const Value& value)>& visit) const override;
    /// False: the key is there already, and nothing has changed. A key that hash_text() does not
    /// know is not taken either.
    bool insert(const Value& key, Value value);
    /// In the place of what the key has. hash_text() knows it.
    void set(const Value& key, Value value);

  private:
    std::vector<std::pair<Value, Value>> entries_;
    std::unordered_map<std::string, std::size_t> index_;
};

/// A list that does not change, with an index of its elements: all are scalars that hash_text()
/// knows.
std::optional<Value> indexed_list(std::vector<Value> elements);

/// While an object of this class exists, its thread compares at most so many values, and says that
/// all others differ. Parts of values are shared, so one can be far larger than what it took to make
/// it, and costs do not count that.
class ComparisonLimit {
  public:
    explicit ComparisonLimit(std::uint64_t most);
    ~ComparisonLimit();
    ComparisonLimit(const ComparisonLimit&) = delete;
    ComparisonLimit& operator=(const ComparisonLimit&) = delete;

    bool is_reached() const;

  private:
    std::uint64_t before_;
};

/// As CEL's `==` has it: numbers of different types are compared, values of other different types
/// are not equal.
bool equal(const Value& a, const Value& b);
/// Less than zero, zero, or more. Refused if the types have no order, and for NaN.
std::expected<int, Failure> compare(const Value& a, const Value& b);
/// A text that is the same for equal values and different for others, by which a hash finds them;
/// of what can be a key: texts, bools and whole numbers.
std::optional<std::string> hash_text(const Value& value);
/// The same for all values.
std::string content_text(const Value& value);

std::uint64_t code_points(std::string_view text);

}  // namespace muster::cel
