#include "muster_run/node/hook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"

extern "C" {
extern const char muster_hook_site_begin[];
extern const char muster_hook_site_end[];
extern const char muster_hook_begin[];
extern const char muster_hook_end[];
extern const char muster_hook_errors_begin[];
extern const char muster_hook_errors_end[];
}

namespace muster::run {
namespace {

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

Result<Hook> Hook::write(const std::filesystem::path& job_dir) {
    Hook hook(job_dir / "hook");
    std::error_code error;
    std::filesystem::create_directories(hook.folder_, error);
    if (error) return system_error("making " + hook.folder_.string(), error.value());
    const std::pair<const char*, std::string_view> files[] = {
        {"sitecustomize.py", between(muster_hook_site_begin, muster_hook_site_end)},
        {"_muster_hook.py", between(muster_hook_begin, muster_hook_end)},
        {"_muster_errors.py", between(muster_hook_errors_begin, muster_hook_errors_end)}};
    for (const auto& [name, text] : files) {
        const std::filesystem::path path = hook.folder_ / name;
        std::ofstream file(path, std::ios::binary);
        if (!(file << text << std::flush))
            return system_error(
                fmt::format("writing {} (--no-hook does without it)", path.string()), errno);
    }
    return hook;
}

void Hook::add_to(launch::Variables& variables) const {
    variables.emplace_back("MUSTER_ERRORS", "1");
    const auto found =
        std::ranges::find(variables, "PYTHONPATH", &launch::Variables::value_type::first);
    if (found == variables.end())
        variables.emplace_back("PYTHONPATH", folder_.string());
    else
        found->second =
            found->second.empty() ? folder_.string() : folder_.string() + ":" + found->second;
}

void Hook::remove() const {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
    if (error)
        log::warning("a folder of the job stays behind",
                     {{"folder", folder_.string()}, {"error", error.message()}});
}

}  // namespace muster::run
