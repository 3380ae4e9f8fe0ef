#pragma once

#include <compare>
#include <functional>
#include <utility>

namespace muster {

/// A value that can't be mistaken for another of the same representation:
/// `using Uid = Strong<struct UidTag, std::string>;`
template <class Tag, class T>
class Strong {
  public:
    Strong() = default;
    explicit Strong(T value) : value_(std::move(value)) {}

    const T& get() const { return value_; }

    friend auto operator<=>(const Strong&, const Strong&) = default;
    friend bool operator==(const Strong&, const Strong&) = default;

  private:
    T value_{};
};

}  // namespace muster

template <class Tag, class T>
struct std::hash<muster::Strong<Tag, T>> {
    std::size_t operator()(const muster::Strong<Tag, T>& id) const noexcept {
        return std::hash<T>{}(id.get());
    }
};
