#include "runtime/internal/scheduling/node_object.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>

#include "base/fields.h"
#include "base/text_files.h"
#include "kube/objects/served_version.h"
#include "kube/values/time.h"
#include "runtime/native_resources.h"

namespace muster::runtime {

namespace {

constexpr std::int64_t kMaxPods = 65'000;  ///< the range of pod addresses

json::object resources(const std::map<std::string, kube::Quantity>& capacity) {
    json::object list;
    for (const auto& [name, amount] : capacity) list[name] = amount.to_string();
    return list;
}

/// "" if it can't be read: nothing here depends on it.
std::string first_line(const char* path) {
    const Result<std::string> text = read_text(path);
    if (!text) return {};
    std::string_view left = *text;
    return std::string(take_field(left, '\n'));
}

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)".
std::string os_image() {
    const Result<std::string> text = read_text("/etc/os-release");
    std::string_view left = text ? std::string_view(*text) : std::string_view();
    while (!left.empty()) {
        std::string_view line = take_field(left, '\n');
        if (take_field(line, '=') != "PRETTY_NAME") continue;
        if (line.starts_with('"')) line = line.substr(1, line.size() - 2);
        return std::string(line);
    }
    return "Linux";
}

}  // namespace

std::map<std::string, kube::Quantity> node_capacity(const NodeOptions& options) {
    const auto milli = options.cpus > 0
                           ? static_cast<std::int64_t>(std::llround(options.cpus * 1000))
                           : std::int64_t{1000} * ::sysconf(_SC_NPROCESSORS_ONLN);
    const auto bytes = options.memory_bytes > 0
                           ? static_cast<std::int64_t>(options.memory_bytes)
                           : std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    std::map<std::string, kube::Quantity> capacity{
        {"cpu", kube::Quantity::from_milli(milli)},
        {"pods", kube::Quantity::from_units(kMaxPods)},
        {"memory", kube::Quantity::from_units(bytes, kube::Quantity::Format::kBinarySi)}};
    capacity.merge(find_native_resources("/", options.state_dir));
    for (const auto& [resource, ids] : options.devices)
        capacity[resource] = kube::Quantity::from_units(static_cast<std::int64_t>(ids.size()));
    return capacity;
}

Task<Result<void>> register_node(kube::Client& client, std::string name,
                                 std::map<std::string, kube::Quantity> capacity, WallTime now) {
    utsname system{};
    ::uname(&system);
    const std::string machine = system.machine;
    const std::string architecture = machine == "x86_64"    ? "amd64"
                                     : machine == "aarch64" ? "arm64"
                                                            : machine;
    const std::string time = kube::format_time(now);
    json::object ready{
        {"type", "Ready"},           {"status", "True"},
        {"reason", "KubeletReady"},  {"message", "muster runs pods as processes of this machine"},
        {"lastHeartbeatTime", time}, {"lastTransitionTime", time}};
    json::object status{
        {"capacity", resources(capacity)},
        {"allocatable", resources(capacity)},
        {"conditions", json::array{std::move(ready)}},
        {"addresses", json::array{{{"type", "InternalIP"}, {"address", kHostAddress}},
                                  {{"type", "Hostname"}, {"address", name}}}},
        // Clients with typed models require every field of it.
        {"nodeInfo",
         {{"machineID", first_line("/etc/machine-id")},
          {"systemUUID", first_line("/etc/machine-id")},
          {"bootID", first_line("/proc/sys/kernel/random/boot_id")},
          {"kernelVersion", system.release},
          {"osImage", os_image()},
          {"containerRuntimeVersion", "muster://1"},
          {"kubeletVersion", kube::kServedVersion},
          {"kubeProxyVersion", ""},
          {"operatingSystem", "linux"},
          {"architecture", architecture}}}};
    json::object node{{"apiVersion", "v1"},
                      {"kind", "Node"},
                      {"metadata",
                       {{"name", name},
                        {"labels",
                         {{"kubernetes.io/hostname", name},
                          {"kubernetes.io/os", "linux"},
                          {"kubernetes.io/arch", architecture}}}}},
                      {"status", status}};
    auto created = co_await client.create(kube::types::kNodes, "", json::value(std::move(node)));
    if (!created && created.error().code() != Code::kAlreadyExists) {
        Error error = std::move(created.error());
        co_return error.prefix("registering the node " + name);
    }
    // A server that stores status separately has dropped it from the creation.
    json::object patch{{"status", std::move(status)}};
    auto patched =
        co_await client.patch(kube::types::kNodes, "", name, kube::ContentType::kMergePatch,
                              json::value(std::move(patch)), "status");
    if (!patched) {
        Error error = std::move(patched.error());
        co_return error.prefix("writing the status of the node " + name);
    }
    co_return Result<void>{};
}

}  // namespace muster::runtime
