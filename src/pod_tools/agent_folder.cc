#include "pod_tools/agent_folder.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "pod_tools/copy.h"
#include "pod_tools/start/program_files.h"

extern "C" {
extern const char muster_start_begin[];
extern const char muster_start_end[];

/// One file of the folder `python` (muster_embed_files).
struct MusterEmbeddedFile {
    const char* name;
    const char* begin;
    const char* end;
};
extern const MusterEmbeddedFile muster_python_begin[];
extern const MusterEmbeddedFile muster_python_end[];
}

namespace muster::pod_tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "muster";
constexpr std::string_view kOfPods = "muster/pods/";  ///< they lie above the package
constexpr mode_t kExecutable = 0755;
constexpr mode_t kReadable = 0644;

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

Result<void> make_directory(const fs::path& path) {
    std::error_code error;
    fs::create_directory(path, error);
    // Whatever the umask is: containers may run as any user.
    if (!error) fs::permissions(path, fs::perms(kExecutable), error);
    if (error) return system_error(fmt::format("making {}", path.string()), error.value());
    return {};
}

Result<void> put_python(const fs::path& directory) {
    TRY_VOID(make_directory(directory));
    for (const MusterEmbeddedFile& file : std::span(muster_python_begin, muster_python_end)) {
        std::string_view name = file.name;
        if (name.starts_with(kOfPods)) {
            name.remove_prefix(kOfPods.size());
            if (name == "__init__.py") continue;
        }
        const fs::path path = directory / name;
        TRY_VOID(make_directory(path.parent_path()));
        TRY_VOID(write_file(between(file.begin, file.end), path, kReadable));
    }
    return {};
}

}  // namespace

Result<void> make_agent_folder(const std::string& own_file, const std::string& directory) {
    const fs::path bin = fs::path(directory) / "bin";
    TRY_VOID(make_directory(bin));
    TRY_VOID(copy_program(own_file, fs::path(directory) / kProgram));
    TRY_VOID(
        write_file(between(muster_start_begin, muster_start_end), bin / kStartName, kExecutable));
    for (const char* const name : {"python", "python3"})
        TRY_VOID(make_link(kStartName, bin / name));
    for (const char* const name : {"torchrun", "dlrover-run", "muster-run"})
        TRY_VOID(make_link(fmt::format("../{}", kProgram), bin / name));
    return put_python(fs::path(directory) / "python");
}

}  // namespace muster::pod_tools
