#include "muster_run/node/warm_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/log.h"

extern "C" {
extern const char muster_zygote_begin[];
extern const char muster_zygote_end[];
}

namespace muster::run {
namespace {

namespace fs = std::filesystem;

/// FNV-1a: the same in each version, as std::hash is not.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

/// Where a user's programs keep what they can make again; empty: there is no such place.
fs::path cache_of(const launch::Variables& variables) {
    const auto directory = [&](const char* name) -> fs::path {
        const std::string* const value = launch::find_variable(variables, name);
        return value != nullptr && value->starts_with('/') ? *value : "";
    };
    if (const fs::path cache = directory("XDG_CACHE_HOME"); !cache.empty()) return cache;
    const fs::path home = directory("HOME");
    return home.empty() ? home : home / ".cache";
}

bool is_ours_to_write(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    return !error && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

std::string import_list_name(const fs::path& cwd, const std::vector<std::string>& command) {
    std::uint64_t hash = hash_of(cwd.native(), 0xcbf29ce484222325);
    for (const std::string& word : command) hash = hash_of(word, hash_of({"\0", 1}, hash));
    std::string name = command.empty() ? "" : fs::path(command.back()).stem().string();
    std::ranges::replace_if(
        name,
        [](char c) {
            return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_');
        },
        '_');
    return fmt::format("{}-{:016x}.json", name.substr(0, 64), hash);
}

Result<WarmFiles> WarmFiles::write(const fs::path& job_dir, const launch::Variables& variables,
                                   const std::vector<std::string>& command) {
    const fs::path folder = job_dir / "warm";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return system_error("making " + folder.string(), error.value());
    const fs::path zygote = folder / "zygote.py";
    std::ofstream file(zygote, std::ios::binary);
    file.write(muster_zygote_begin, muster_zygote_end - muster_zygote_begin);
    if (!file.flush())
        return system_error(
            fmt::format("writing {} (without --warm it is not needed)", zygote.string()), errno);
    const std::string name = import_list_name(fs::current_path(error), command);
    const fs::path cache = cache_of(variables) / "muster" / "warm";
    // Without a place that stays, one run learns for itself.
    const bool stays = cache.is_absolute() && is_ours_to_write(cache);
    return WarmFiles(folder, (stays ? cache : folder) / name);
}

workers::SpareOptions WarmFiles::options(std::vector<std::string> modules) const {
    return {
        .zygote = folder_ / "zygote.py", .modules = std::move(modules), .imports = import_list_};
}

void WarmFiles::remove() const {
    std::error_code error;
    fs::remove_all(folder_, error);
    if (error)
        log::warning("a folder of the job stays behind",
                     {{"folder", folder_.string()}, {"error", error.message()}});
}

}  // namespace muster::run
