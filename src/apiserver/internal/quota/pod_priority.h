#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "store/store.h"

namespace muster::apiserver {

/// As the store names them.
inline constexpr const char* kPriorityClasses = "priorityclasses.scheduling.k8s.io";

/// What a PriorityClass says of the pods that name it.
struct PodPriority {
    std::string class_name;  ///< empty: no class is there for pods that name none
    std::int64_t value = 0;
    std::string preemption_policy = "PreemptLowerPriority";
};
PodPriority priority_of(const json::object& priority_class);

/// Writes a priority into a new pod; says why not if the pod has made up another one, else nothing.
[[nodiscard]] std::string give_priority(json::object& pod, const PodPriority& priority);

/// The class whose globalDefault is set. Of several, which only a race makes, that with the lowest
/// value counts.
class DefaultPriorityClass {
  public:
    /// Empty: there is none.
    std::string_view name() const;
    /// Follows the committed classes. `before` and `after` may be null.
    void follow(const json::object* before, const json::object* after);

  private:
    std::set<std::pair<std::int64_t, std::string>> defaults_;
};

/// The classes that every cluster has.
struct SystemPriorityClass {
    const char* name;
    std::int64_t value;
    const char* description;
};
inline constexpr SystemPriorityClass kSystemPriorityClasses[] = {
    {"system-cluster-critical", 2'000'000'000, "For pods that the cluster can't do without."},
    {"system-node-critical", 2'000'001'000, "For pods that their node can't do without."}};

}  // namespace muster::apiserver
