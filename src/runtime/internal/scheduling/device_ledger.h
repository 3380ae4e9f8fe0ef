#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/devices.h"

namespace muster::runtime {

/// Which pod has which of the machine's devices. Pure; thread: the loop.
class DeviceLedger {
  public:
    explicit DeviceLedger(Devices all) : all_(std::move(all)) {}

    /// The devices for the pod, the same ones each time until it releases them. kConflict if others
    /// still have too many: the pod was admitted in expectation of the end of one of them.
    Result<Devices> take(const std::string& pod_uid, const kube::PodSpec& spec);
    void release(const std::string& pod_uid) { taken_.erase(pod_uid); }
    /// A pod that already exists has these, whatever the machine has now.
    void restore(const std::string& pod_uid, Devices devices) {
        taken_.insert_or_assign(pod_uid, std::move(devices));
    }

    const Devices& all() const { return all_; }

  private:
    Devices all_;
    std::map<std::string, Devices> taken_;
};

/// As text, for the process that takes over the pod, and back; empty for any other text.
std::string text_of(const Devices& devices);
Devices devices_in(std::string_view text);

/// The part of the pod's devices for one container: each init container starts from the first
/// device, as they run one after the other; the others share the devices. `index` counts init
/// containers first.
/// An ephemeral container has none.
Devices devices_of_container(const kube::PodSpec& spec, std::size_t index, const Devices& of_pod);

/// Variables ("KEY=value") that make the accelerators' libraries see those devices and no others of
/// `machine`; none for types that the machine does not have.
std::vector<std::string> device_environment(const Devices& machine, const Devices& own);

}  // namespace muster::runtime
