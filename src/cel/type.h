#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace muster::cel {

struct Declaration;

/// The type of an expression, as the checker knows it: CEL's types, with parameters. Copies share
/// what they are made of. Immutable, any thread.
class Type {
  public:
    enum class Kind : std::uint8_t {
        kError,  ///< of an expression that has been reported
        kDyn,    ///< known when it is evaluated
        kNull,
        kBool,
        kInt,
        kUint,
        kDouble,
        kString,
        kBytes,
        kDuration,
        kTimestamp,
        kList,       ///< one parameter
        kMap,        ///< two: keys and values
        kType,       ///< the type of a type; at most one
        kObject,     ///< fields that a Declaration names
        kOpaque,     ///< of a library; optional_type among them
        kParameter,  ///< a variable of a signature: A of list(A)
    };

    Type() = default;  ///< dyn
    /// A kind without parameters.
    Type(Kind kind) : kind_(kind) {}  // NOLINT(google-explicit-constructor): a kind is a type
    static Type list(Type element);
    static Type map(Type key, Type value);
    static Type type_of(Type type);
    static Type optional(Type value);
    static Type opaque(std::string name, std::vector<Type> parameters = {});
    static Type parameter(std::string name);
    /// Refers to the declaration.
    static Type object(const Declaration& declaration);

    Kind kind() const { return kind_; }
    bool is_dyn_or_error() const { return kind_ == Kind::kDyn || kind_ == Kind::kError; }
    bool is_optional() const;
    /// Of an opaque type, an object or a parameter; "" otherwise.
    const std::string& name() const;
    std::span<const Type> parameters() const;
    /// Of an object; null otherwise.
    const Declaration* declaration() const;

    /// How many types it is made of, itself included.
    std::size_t parts() const { return parts_ ? parts_->count : 1; }

    /// The same kind with these parameters.
    Type with_parameters(std::vector<Type> parameters) const;

    /// As messages of cel-go show it: "list(int)".
    std::string text() const;
    /// The name of the type as a value: "list", "google.protobuf.Duration".
    std::string runtime_name() const;

    friend bool operator==(const Type& a, const Type& b);

  private:
    struct Parts {
        std::string name;
        std::vector<Type> parameters;
        const Declaration* declaration = nullptr;
        std::size_t count = 1;
    };
    Type(Kind kind, Parts parts);

    Kind kind_ = Kind::kDyn;
    std::shared_ptr<const Parts> parts_;
};

}  // namespace muster::cel
