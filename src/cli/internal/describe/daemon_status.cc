#include "cli/internal/describe/daemon_status.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/serialize.hpp>
#include <string_view>

#include "kube/values/json.h"

namespace muster::cli {

namespace {

using State = DaemonStatus::State;

std::string first_line(const DaemonStatus& status) {
    switch (status.state) {
        case State::kStarting:
            return fmt::format("muster is starting: process {}, state in {}\n", status.process,
                               status.directory);
        case State::kUp:
            return fmt::format("muster is up at {}: process {}, state in {}\n", status.address,
                               status.process, status.directory);
        case State::kDown:
            break;
    }
    if (status.supervisor != 0)
        return fmt::format("muster is not up in {}; its supervisor, process {}, starts it again\n",
                           status.directory, status.supervisor);
    return fmt::format("muster is not up in {}; 'muster up' starts it\n", status.directory);
}

std::string_view name_of(State state) {
    switch (state) {
        case State::kStarting:
            return "starting";
        case State::kUp:
            return "up";
        case State::kDown:
            break;
    }
    return "down";
}

void put_size(json::object& to, std::string_view name, const std::optional<std::uint64_t>& bytes) {
    if (bytes) to.emplace(name, *bytes);
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double size = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
    return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string status_text(const DaemonStatus& status) {
    std::string text = first_line(status);
    if (!status.version.empty()) text += fmt::format("  version  {}\n", status.version);
    if (status.jobs)
        text += fmt::format("  jobs     {} unfinished, {} succeeded, {} failed\n",
                            status.jobs->unfinished, status.jobs->succeeded, status.jobs->failed);
    if (status.store_bytes) {
        text += fmt::format("  disk     {} of objects", size_text(*status.store_bytes));
        if (status.log_bytes) text += fmt::format(", {} of logs", size_text(*status.log_bytes));
        if (status.free_bytes) text += fmt::format("; {} free", size_text(*status.free_bytes));
        text += "\n";
    }
    return text;
}

std::string status_json(const DaemonStatus& status) {
    json::object all{{"state", name_of(status.state)}, {"stateDirectory", status.directory}};
    if (status.process != 0) all.emplace("process", status.process);
    if (status.supervisor != 0) all.emplace("supervisor", status.supervisor);
    if (!status.version.empty()) all.emplace("version", status.version);
    if (status.state == State::kUp) {
        all.emplace("server", status.address);
        all.emplace("metrics", status.address + "/metrics");
        all.emplace("kubeconfig", status.directory + "/kubeconfig");
        all.emplace("ready", status.not_ready.empty());
        if (!status.not_ready.empty()) all.emplace("notReady", status.not_ready);
    }
    json::object disk;
    put_size(disk, "objectBytes", status.store_bytes);
    put_size(disk, "logBytes", status.log_bytes);
    put_size(disk, "freeBytes", status.free_bytes);
    if (!disk.empty()) all.emplace("disk", std::move(disk));
    if (status.jobs)
        all.emplace("jobs", json::object{{"unfinished", status.jobs->unfinished},
                                         {"succeeded", status.jobs->succeeded},
                                         {"failed", status.jobs->failed}});
    return json::serialize(all) + "\n";
}

}  // namespace muster::cli
