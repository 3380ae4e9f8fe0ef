#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace muster::pod_tools {

/// Whether a path is that of a Python, by its file's name: python, python3, python3.11.
bool is_python(std::string_view path);

/// A launcher of workers that a Python is asked to run as its module.
struct LauncherModule {
    std::string name;      ///< "torch.distributed.run"
    std::size_t rest = 0;  ///< the first of the launcher's own words

    friend bool operator==(const LauncherModule&, const LauncherModule&) = default;
};

/// From the words of a Python, without its name: nothing if they run anything else. Options of the
/// interpreter may come before it, as CPython reads them (Python/getopt.c); they mean the launcher's
/// own process, and its workers never get them.
std::optional<LauncherModule> find_launcher_module(std::span<const std::string> words);

}  // namespace muster::pod_tools
