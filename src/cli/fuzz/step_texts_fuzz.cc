// Any text as one of the variables with a grammar of their own: it is read, or refused with a reason.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cli/internal/step/gpu_text.h"
#include "cli/internal/step/selector_text.h"
#include "cli/internal/step/volume_text.h"
#include "kube/values/name_syntax.h"

using namespace muster;
using namespace muster::cli;

namespace {

void check_gpu(std::string_view text, const GpuPlatform& platform) {
    const Result<GpuRequest> read = read_gpu_text(text, platform);
    if (!read) {
        CHECK(!read.error().message().empty(), "a refusal says why");
        return;
    }
    using enum GpuRequest::Mode;
    CHECK(kube::label_value_problem(read->type).empty(), "a type can be the label of a node");
    const bool reserves = read->mode == kWhole || read->mode == kPart;
    CHECK(reserves == !read->resources.empty(), "what is requested is reserved");
    for (const auto& [name, count] : read->resources)
        CHECK(count > 0 && kube::label_key_problem(name).empty(),
              "a resource has a name and a count");
    CHECK(read->devices == (read->mode == kShared ? -1
                            : read->mode == kNone ? 0
                                                  : read->devices),
          "the number of devices fits the mode");
}

void check_volumes(std::string_view text, const VolumeSettings& settings) {
    const Result<VolumePlan> read = read_volume_text(text, settings);
    if (!read) {
        CHECK(!read.error().message().empty(), "a refusal says why");
        return;
    }
    std::set<std::string_view> names;
    for (const json::value& volume : read->volumes) {
        const std::string_view name = volume.at("name").as_string();
        CHECK(kube::is_dns1123_label(name), "a volume has a name");
        CHECK(names.insert(name).second, "no two volumes have the same");
    }
    std::set<std::string_view> paths;
    for (const json::value& mount : read->mounts) {
        CHECK(names.contains(mount.at("name").as_string()), "what is mounted is there");
        const std::string_view path = mount.at("mountPath").as_string();
        CHECK(path.starts_with('/') && paths.insert(path).second, "each path is mounted once");
    }
}

void check_selector(std::string_view text) {
    const Result<NodeChoice> read = read_selector_text(text);
    if (!read) {
        CHECK(!read.error().message().empty(), "a refusal says why");
        return;
    }
    const auto check_pair = [](std::string_view key, std::string_view value) {
        CHECK(kube::label_key_problem(key).empty(), "a node can have the key");
        CHECK(kube::label_value_problem(value).empty(), "a node can have the value");
    };
    for (const auto& [key, value] : read->labels) check_pair(key, value);
    for (const auto& [key, values] : read->one_of) {
        CHECK(values.size() > 1 && !read->labels.contains(key), "each key is in one place");
        for (const std::string& value : values) check_pair(key, value);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* driver : {"", "tencent", "vgpu", "hami"})
        check_gpu(text, {.resource = "", .driver = driver});
    check_gpu(text, {.resource = "nvidia.com/gpu", .driver = "hami"});
    check_volumes(text, {.user = "", .time_zone = ""});
    check_volumes(text, {.user = "ann", .time_zone = "Asia/Shanghai"});
    check_selector(text);
    return 0;
}
