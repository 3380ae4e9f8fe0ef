#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/pod.h"

namespace muster::runtime {

/// spec.ephemeralContainers, of which each has a command: sh where none is given, since that is what
/// images for debugging run. What can't be read, and what has no number any more (RunId), is left out.
std::vector<kube::Container> ephemeral_containers_of(const kube::PodSpec& spec);

/// The containers of one pod by the index that they have everywhere: init containers first, then
/// the others, then the ephemeral ones in the order in which they came. Thread: the loop.
class PodContainers {
  public:
    explicit PodContainers(std::shared_ptr<const kube::Pod> pod);

    std::size_t size() const { return fixed() + ephemeral_.size(); }
    const kube::Container& at(std::size_t index) const;
    bool is_ephemeral(std::size_t index) const { return index >= fixed(); }
    /// "initContainers"
    std::string_view list(std::size_t index) const;
    /// "spec.initContainers[0]"
    std::string path(std::size_t index) const;

    /// A newer state of the pod. True if ephemeral containers were added, which have the highest
    /// indexes now.
    bool update(std::shared_ptr<const kube::Pod> pod);

  private:
    /// How many there are from the start.
    std::size_t fixed() const;

    std::shared_ptr<const kube::Pod> pod_;
    std::deque<kube::Container> ephemeral_;  ///< a reference to one stays valid
};

}  // namespace muster::runtime
