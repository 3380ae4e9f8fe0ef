#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "kube/values/json.h"

namespace muster::apiserver {

/// The controller of a pod, from its ownerReferences.
struct PodController {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;

    friend bool operator==(const PodController&, const PodController&) = default;
};

/// Whether its condition Ready is true.
bool is_ready_pod(const json::object& pod);

/// The pods that a disruption budget covers, counted as they come and go: the cost of a pod's
/// change does not depend on how many there are.
class Coverage {
  public:
    /// Updates a pod. False if nothing that counts has changed.
    bool put(const json::object& pod);
    bool remove(const std::string& name);

    std::int64_t pods() const { return static_cast<std::int64_t>(pods_.size()); }
    /// Ready, and not about to end.
    std::int64_t healthy() const { return healthy_; }
    bool is_healthy(const std::string& name) const;
    /// Exists, and is not being deleted.
    bool stays(const std::string& name) const;
    bool is_controlled_by(std::string_view uid) const { return by_uid_.contains(uid); }

    struct Controlled {
        PodController controller;
        std::int64_t pods = 0;
    };
    /// By uid.
    const std::map<std::string, Controlled, std::less<>>& controllers() const { return by_uid_; }
    /// The first pod by name that a controller has. Looks at all of them.
    std::string_view pod_of(std::string_view uid) const;

  private:
    struct Pod {
        bool healthy = false;
        bool deleting = false;
        PodController controller;  ///< without a uid: none

        friend bool operator==(const Pod&, const Pod&) = default;
    };
    void count(const Pod& pod);
    void discount(const Pod& pod);

    std::map<std::string, Pod> pods_;
    std::map<std::string, Controlled, std::less<>> by_uid_;
    std::int64_t healthy_ = 0;
};

}  // namespace muster::apiserver
