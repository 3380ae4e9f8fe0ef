#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::jobs {

/// Where the words of one command, without their quotes, call torchrun.
struct LauncherCall {
    enum class Kind : std::uint8_t {
        kLauncher,  ///< the words: `torchrun`, or `python -m torch.distributed.run`
        kText,      ///< the word is the text of another shell, which may call it
    };

    Kind kind = Kind::kLauncher;
    std::size_t index = 0;
    std::size_t count = 1;  ///< how many words
    /// The module that a Python starts, if an agent needs to know which launcher it is: " -m MODULE".
    std::string_view module = {};

    friend bool operator==(const LauncherCall&, const LauncherCall&) = default;
};

/// The first call in a command: its program, or what a program such as `env`, `exec` or `timeout`
/// starts. Nothing if the command starts something else, whatever its arguments are. kInvalid: it
/// starts a launcher of torch's in a way that no agent can take the place of. Pure.
Result<std::optional<LauncherCall>> find_launcher_call(const std::vector<std::string>& words);

/// The file that a shell runs, or that is started by its path: as the words name it; empty: neither.
/// Pure.
std::string script_of(const std::vector<std::string>& words);

/// Whether the name of a launcher is anywhere in the text.
bool names_launcher(std::string_view text);

/// The text of a shell with an agent in the place of each launcher that it calls, also within the
/// text of further shells (`bash -c '...'`). `before` comes in front of each launcher, `after`
/// behind it; both are free of quotes and of what shells replace. Nothing if no launcher is called.
/// kInvalid: whether one is called can't be known, or not followed. Pure.
Result<std::optional<std::string>> with_agents(std::string_view text, std::string_view before,
                                               std::string_view after);

}  // namespace muster::jobs
