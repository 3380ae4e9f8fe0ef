#include "runtime/internal/limits/machine_kills.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::runtime {

std::optional<std::uint64_t> machine_kills_in(std::string_view vmstat) {
    constexpr std::string_view kName = "oom_kill ";
    while (!vmstat.empty()) {
        const std::string_view line = take_field(vmstat, '\n');
        if (line.starts_with(kName)) return parse_number<std::uint64_t>(line.substr(kName.size()));
    }
    return std::nullopt;
}

MachineKills::MachineKills(std::filesystem::path vmstat)
    : vmstat_(std::move(vmstat)), last_(now()) {}

bool MachineKills::rose() {
    const std::optional<std::uint64_t> before = std::exchange(last_, now());
    return before && last_ && *last_ > *before;
}

std::optional<std::uint64_t> MachineKills::now() const {
    std::ostringstream text;
    text << std::ifstream(vmstat_).rdbuf();
    return machine_kills_in(text.view());
}

}  // namespace muster::runtime
