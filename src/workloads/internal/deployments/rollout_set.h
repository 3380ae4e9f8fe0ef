#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::workloads {

inline constexpr std::string_view kHashLabel = "pod-template-hash";
inline constexpr std::string_view kRevisionKey = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistoryKey = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicasKey = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicasKey = "deployment.kubernetes.io/max-replicas";

/// A ReplicaSet of a Deployment in the hands of one decision: its object, which is changed with it.
class RolloutSet {
  public:
    explicit RolloutSet(json::object object);

    const json::object& object() const { return object_; }
    std::string_view name() const;
    bool changed() const { return changed_; }
    std::int64_t replicas() const { return replicas_; }  ///< that are wanted of it
    std::int64_t actual() const { return count("replicas"); }
    std::int64_t ready() const { return count("readyReplicas"); }
    std::int64_t available() const { return count("availableReplicas"); }
    WallTime created() const { return created_; }
    /// 0 if it has none.
    std::int64_t revision() const { return number(kRevisionKey).value_or(0); }
    std::optional<std::int64_t> number(std::string_view annotation) const;
    std::string_view annotation(std::string_view key) const;
    /// Nothing of it is left, and it knows that nothing is wanted.
    bool idle() const;

    void annotate(std::string_view key, std::string_view value);
    void scale(std::int64_t replicas);
    void set_least_ready_seconds(std::int64_t seconds);

  private:
    std::int64_t count(std::string_view key) const;

    json::object object_;
    std::int64_t replicas_;
    WallTime created_;
    bool changed_ = false;
};

/// Whether the pods of both templates are the same, but for the label kHashLabel.
bool same_template(const json::object& one, const json::object& other);
/// The value of kHashLabel for a Deployment's template: eight to ten characters that form no words.
std::string template_hash(const json::object& template_, std::int64_t collisions);
/// The ReplicaSet of a Deployment's present template; without replicas and annotations.
json::object new_replica_set(const json::object& deployment);

}  // namespace muster::workloads
