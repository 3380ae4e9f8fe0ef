#pragma once

#include <compare>
#include <functional>
#include <string>
#include <utility>

namespace muster::operators {

/// The uid of a job, which can't be taken for that of one of its pods.
class JobUid {
  public:
    JobUid() = default;
    explicit JobUid(std::string value) : value_(std::move(value)) {}

    const std::string& get() const { return value_; }

    friend auto operator<=>(const JobUid&, const JobUid&) = default;

  private:
    std::string value_;
};

}  // namespace muster::operators

template <>
struct std::hash<muster::operators::JobUid> {
    std::size_t operator()(const muster::operators::JobUid& uid) const noexcept {
        return std::hash<std::string>{}(uid.get());
    }
};
