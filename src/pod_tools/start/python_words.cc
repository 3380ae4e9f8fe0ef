#include "pod_tools/start/python_words.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pod_tools/start/search_path.h"

namespace muster::pod_tools {

namespace {

constexpr auto kLauncherModules = std::to_array<std::string_view>(
    {"torch.distributed.run", "torch.distributed.launch", "dlrover.trainer.torch.main"});
/// Options after which Python reads on; it prints something at others, or runs what they name.
constexpr std::string_view kSwitches = "bBdEiIOPqRsStuvx";
constexpr std::string_view kWithValue = "WX";
/// The only option of several letters that has a value, as its next word.
constexpr std::string_view kLongWithValue = "--check-hash-based-pycs";

}  // namespace

bool is_python(std::string_view path) {
    constexpr std::string_view kPython = "python";
    const std::string_view name = file_name(path);
    return name.starts_with(kPython) &&
           name.find_first_not_of("0123456789.", kPython.size()) == name.npos;
}

std::optional<LauncherModule> find_launcher_module(std::span<const std::string> words) {
    const auto module = [&](std::string_view name,
                            std::size_t rest) -> std::optional<LauncherModule> {
        if (std::ranges::find(kLauncherModules, name) == kLauncherModules.end())
            return std::nullopt;
        return LauncherModule{.name = std::string(name), .rest = rest};
    };
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (word == kLongWithValue) {
            ++at;
            continue;
        }
        if (word.size() < 2 || word[0] != '-' || word[1] == '-') return std::nullopt;
        for (std::size_t i = 1; i < word.size(); ++i) {
            const std::string_view value = word.substr(i + 1);
            if (word[i] == 'm') {
                if (!value.empty()) return module(value, at + 1);
                return at + 1 < words.size() ? module(words[at + 1], at + 2) : std::nullopt;
            }
            if (kWithValue.find(word[i]) != kWithValue.npos) {
                if (value.empty()) ++at;
                break;
            }
            if (kSwitches.find(word[i]) == kSwitches.npos) return std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace muster::pod_tools
