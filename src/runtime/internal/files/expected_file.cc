#include "runtime/internal/files/expected_file.h"

#include <algorithm>
#include <iterator>

#include "base/fields.h"
#include "kube/objects/pod_contract.h"
#include "runtime/internal/files/volume_files.h"

namespace muster::runtime {

std::optional<ExpectedFile> expected_file(const kube::Pod& pod) {
    const auto written = pod.metadata.annotations.find(std::string(kube::kExpectedFileAnnotation));
    if (written == pod.metadata.annotations.end()) return std::nullopt;
    std::string_view text = written->second;
    ExpectedFile expected;
    expected.path = take_field(text, ' ');
    expected.reason = take_field(text, ' ');
    expected.message = text;
    // No deeper: a directory that the pod made could be a link to anywhere.
    if (!stays_inside(expected.path) || std::ranges::distance(expected.path) != 2 ||
        expected.reason.empty() || expected.message.empty())
        return std::nullopt;
    const bool its_own = std::ranges::any_of(pod.spec.volumes, [&](const kube::Volume& volume) {
        return volume.empty_dir && volume.name == expected.path.parent_path();
    });
    return its_own ? std::optional(std::move(expected)) : std::nullopt;
}

}  // namespace muster::runtime
