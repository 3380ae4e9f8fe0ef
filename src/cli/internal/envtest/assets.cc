#include "cli/internal/envtest/assets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/fields.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEtcd = "etcd";
constexpr std::string_view kKubeApiserver = "kube-apiserver";
constexpr std::string_view kKubectl = "kubectl";

bool is_in_the_way(const fs::path& path) {
    std::error_code missing;
    return fs::symlink_status(path, missing).type() != fs::file_type::not_found;
}

/// A link that leads to a program of ours, which may be gone or of another version.
bool is_ours(const fs::path& path, const fs::path& program) {
    std::error_code failed;
    const fs::path target = fs::read_symlink(path, failed);
    return !failed && (target == program || target.filename() == program.filename());
}

Result<void> check_free(const fs::path& path, const fs::path& program) {
    if (!is_in_the_way(path) || is_ours(path, program)) return {};
    return Error(
        Code::kAlreadyExists,
        fmt::format("{} is there, and is no link to a program of Muster; remove it, or name "
                    "another folder",
                    path.string()));
}

/// In one step: someone may be starting the present one.
Result<void> put_link(const fs::path& target, const fs::path& path) {
    const fs::path fresh =
        path.parent_path() / fmt::format(".{}.{}", path.filename().string(), ::getpid());
    std::error_code ignored;
    fs::remove(fresh, ignored);
    if (::symlink(target.c_str(), fresh.c_str()) < 0)
        return system_error("linking " + path.string(), errno);
    if (::rename(fresh.c_str(), path.c_str()) == 0) return {};
    const int why = errno;
    fs::remove(fresh, ignored);
    return system_error("linking " + path.string(), why);
}

std::optional<fs::path> find_in_path(std::string_view name, std::string_view search_path) {
    while (!search_path.empty()) {
        const fs::path found = fs::path(take_field(search_path, ':')) / name;
        std::error_code missing;
        if (found.is_absolute() && fs::is_regular_file(found, missing) &&
            ::access(found.c_str(), X_OK) == 0)
            return found;
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> make_envtest_assets(const fs::path& folder,
                                                     const fs::path& program,
                                                     const std::string& search_path) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) return system_error("making " + folder.string(), failed.value());
    for (const std::string_view name : {kEtcd, kKubeApiserver})
        TRY_VOID(check_free(folder / name, program));
    for (const std::string_view name : {kEtcd, kKubeApiserver})
        TRY_VOID(put_link(program, folder / name));
    std::vector<std::string> notices;
    std::error_code missing;
    if (fs::exists(folder / kKubectl, missing)) return notices;
    if (const auto kubectl = find_in_path(kKubectl, search_path))
        TRY_VOID(put_link(*kubectl, folder / kKubectl));
    else
        notices.push_back(fmt::format(
            "there is no kubectl in PATH: suites that call it need one in {}", folder.string()));
    return notices;
}

EnvtestProgram envtest_program(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name == kEtcd) return EnvtestProgram::kEtcd;
    return name == kKubeApiserver ? EnvtestProgram::kKubeApiserver : EnvtestProgram::kNone;
}

}  // namespace muster::cli
