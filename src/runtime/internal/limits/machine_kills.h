#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace muster::runtime {

/// "oom_kill 7" of /proc/vmstat; nothing if the kernel does not count them.
std::optional<std::uint64_t> machine_kills_in(std::string_view vmstat);

/// How many processes the kernel has killed on this machine, in whatever group, because memory ran
/// out. Any user may read it, and it costs one small read.
class MachineKills {
  public:
    explicit MachineKills(std::filesystem::path vmstat = "/proc/vmstat");

    /// Whether there were any since the last call, or since this was made.
    bool rose();

  private:
    std::optional<std::uint64_t> now() const;

    std::filesystem::path vmstat_;
    std::optional<std::uint64_t> last_;
};

}  // namespace muster::runtime
