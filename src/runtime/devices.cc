#include "runtime/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/parse_number.h"
#include "base/trimmed.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNvidia = "nvidia.com/gpu";
constexpr const char* kAmd = "amd.com/gpu";

/// The entries of the directory, sorted by name.
std::vector<fs::path> entries(const fs::path& directory) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    return paths;
}

/// The rest of the line that begins with `key`, without surrounding blanks.
std::optional<std::string> value_of(const fs::path& file, std::string_view key) {
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
        if (!line.starts_with(key)) continue;
        return std::string(trimmed(std::string_view(line).substr(key.size()), " \t\r"));
    }
    return std::nullopt;
}

std::vector<std::string> counted(std::size_t count) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
    return ids;
}

std::size_t count_nvidia(const fs::path& root) {
    std::size_t described = 0;
    for (const fs::path& gpu : entries(root / "proc/driver/nvidia/gpus")) {
        // In a container the driver lists all of the machine's devices, of which only some can be
        // opened.
        const auto minor = value_of(gpu / "information", "Device Minor:");
        if (!minor || fs::exists(root / "dev" / ("nvidia" + *minor))) ++described;
    }
    if (described > 0) return described;
    std::size_t files = 0;
    for (const fs::path& file : entries(root / "dev")) {
        const std::string name = file.filename();
        if (name.starts_with("nvidia") &&
            parse_number<std::uint64_t>(std::string_view(name).substr(6)))
            ++files;
    }
    return files;
}

std::size_t count_amd(const fs::path& root) {
    std::size_t count = 0;
    for (const fs::path& node : entries(root / "sys/class/kfd/kfd/topology/nodes")) {
        // Processors have no such units.
        const auto units = value_of(node / "properties", "simd_count ");
        if (units && parse_number<std::uint64_t>(*units).value_or(0) > 0) ++count;
    }
    return count;
}

/// Level Zero counts the devices of both drivers together.
void find_intel(const fs::path& root, Devices& devices) {
    std::size_t next = 0;
    for (const fs::path& node : entries(root / "sys/class/drm")) {
        if (!node.filename().string().starts_with("renderD")) continue;
        if (value_of(node / "device/vendor", "0x8086") != "") continue;
        std::error_code error;
        const std::string driver = fs::read_symlink(node / "device/driver", error).filename();
        if (driver != "i915" && driver != "xe") continue;
        devices["gpu.intel.com/" + driver].push_back(std::to_string(next++));
    }
}

const std::string* variable(const std::vector<std::string>& environment, std::string_view name,
                            std::string& value) {
    for (const std::string& entry : environment) {
        if (!entry.starts_with(name) || entry.size() <= name.size() || entry[name.size()] != '=')
            continue;
        value = entry.substr(name.size() + 1);
        return &value;
    }
    return nullptr;
}

}  // namespace

Devices find_devices(const fs::path& root) {
    Devices devices;
    if (const std::size_t count = count_nvidia(root); count > 0) devices[kNvidia] = counted(count);
    if (const std::size_t count = count_amd(root); count > 0) devices[kAmd] = counted(count);
    find_intel(root, devices);
    return devices;
}

Devices visible_devices(Devices devices, const std::vector<std::string>& environment) {
    for (auto& [resource, ids] : devices) {
        const char* name = resource == kNvidia ? "CUDA_VISIBLE_DEVICES"
                           : resource == kAmd  ? "ROCR_VISIBLE_DEVICES"
                                               : "ZE_AFFINITY_MASK";
        std::string text;
        if (variable(environment, name, text) == nullptr) continue;
        std::vector<std::string> visible;
        std::istringstream list(text);
        for (std::string id; std::getline(list, id, ',');) {
            // Like the libraries: devices after an invalid one are not visible either.
            const bool named = id.starts_with("GPU-") || id.starts_with("MIG-");
            if (!named && std::ranges::find(ids, id) == ids.end()) break;
            visible.push_back(id);
        }
        ids = std::move(visible);
    }
    std::erase_if(devices, [](const auto& entry) { return entry.second.empty(); });
    return devices;
}

}  // namespace muster::runtime
