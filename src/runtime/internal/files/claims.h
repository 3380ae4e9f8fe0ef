#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/objects/pod.h"
#include "kube/values/namespaced_name.h"

namespace muster::runtime {

/// The directory behind a claim to a volume.
struct ClaimDirectory {
    std::filesystem::path path;
    bool made = false;       ///< here, if it is missing
    bool read_only = false;  ///< as the pod mounts it
};
/// By the name of the pod's volume.
using ClaimDirectories = std::map<std::string, ClaimDirectory, std::less<>>;

/// Directories that stand in for claims, by "CLAIM" or "NAMESPACE/CLAIM".
using ClaimPlaces = std::map<std::string, std::filesystem::path>;

struct PodClaims {
    ClaimDirectories directories;
    std::vector<kube::NamespacedName> of_one_pod;  ///< claims with the mode ReadWriteOncePod
};

/// Reads the claims of the pod's volumes from the API, and waits a moment for those that are about
/// to be bound. Messages are those of a cluster where it has one.
Task<Result<PodClaims>> find_claims(kube::Client& client, Clock& clock,
                                    std::shared_ptr<const kube::Pod> pod,
                                    const ClaimPlaces& places);

/// Which pod uses the claims that only one may use. Thread: the loop.
class ClaimsInUse {
  public:
    /// A pod that an earlier process started may have claims, which are known once it has taken
    /// them. Until then no other pod gets one.
    void expect(const std::string& pod_uid) { expected_.insert(pod_uid); }
    /// Takes none if another pod has one of them (kAlreadyExists), or may have (kUnavailable).
    Result<void> take(const std::vector<kube::NamespacedName>& claims, const kube::Pod& pod);
    void release(const std::string& pod_uid);

  private:
    struct User {
        std::string uid;
        std::string name;
    };
    std::map<kube::NamespacedName, User> users_;
    std::set<std::string> expected_;
};

}  // namespace muster::runtime
