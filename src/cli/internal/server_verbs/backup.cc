#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/time/real_clock.h"
#include "base/time/rfc3339.h"
#include "base/unique_fd.h"
#include "cli/internal/backup/backup_file.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/describe/daemon_status.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_files.h"
#include "control_plane/daemon/state_home.h"
#include "store/store_copy.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBackupHelp =
    R"(Copies the state of 'muster up' into one file: all objects as they are at one moment, and the keys. It may run
meanwhile, and is held up by nothing.

Usage: muster backup FILE [FLAGS]

      --no-keys              without certificates, keys and the admin token: a restore then keeps those that are
                             there, or 'muster up' makes new ones, and kubeconfigs and tokens that others have are
                             worth nothing
      --force                replace FILE
      --state DIR            its state directory (default: ~/.muster)

Readable by you only: Secrets and keys are in it as they are. Logs of pods are not, nor are the files that pods wrote.
FILE.partial is used meanwhile, with as much space again. 'muster restore' brings it back.

Exit status: 0; 1 when there is no state, or it could not be copied.

Examples:
  muster backup ~/muster-$(date +%F).backup
)";

constexpr const char* kBackupVerb = "backup";
constexpr const char* kArchive = "backup.tar";

struct BackupOptions {
    std::string file;
    std::string state_dir;
    bool keys = true;
    bool force = false;
};

/// Whether all that is in it is what a backup that was killed leaves: nothing else may be removed.
bool is_left_behind(const fs::path& directory) {
    std::error_code failed;
    for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        const std::string name = at->path().filename();
        const bool ours =
            name == kArchive || name.starts_with(control_plane::kStoreFile) ||
            std::ranges::find(control_plane::kKeyFiles, name) != std::end(control_plane::kKeyFiles);
        if (!ours) return false;
    }
    return !failed;
}

/// A directory beside the backup, removed with this.
class PartialBackup {
  public:
    static Result<PartialBackup> make(const fs::path& file) {
        fs::path path = file;
        path += ".partial";
        std::error_code failed;
        if (fs::exists(path, failed) && !is_left_behind(path))
            return Error(Code::kAlreadyExists,
                         fmt::format("{} is in the way, and has more in it than a backup that was "
                                     "killed leaves: remove it, or name another file",
                                     path.string()));
        fs::remove_all(path, failed);
        if (::mkdir(path.c_str(), 0700) != 0) return system_error("making " + path.string(), errno);
        return PartialBackup(std::move(path));
    }
    ~PartialBackup() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    PartialBackup(PartialBackup&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    PartialBackup& operator=(PartialBackup&&) = delete;

    const fs::path& path() const { return path_; }

  private:
    explicit PartialBackup(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

Error there_already(const std::string& file) {
    return {Code::kAlreadyExists, fmt::format("{} exists already; --force replaces it", file)};
}

/// Gives the archive its name, in one step.
Result<void> publish(const fs::path& made, const std::string& file, bool force) {
    const bool refused = !force && ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, file.c_str(),
                                               RENAME_NOREPLACE) != 0;
    if (refused && errno == EEXIST) return there_already(file);
    // Not every file system has that.
    if (refused && errno != EINVAL && errno != ENOSYS) return system_error("making " + file, errno);
    if ((refused || force) && ::rename(made.c_str(), file.c_str()) != 0)
        return system_error("making " + file, errno);
    const fs::path parent = fs::path(file).parent_path();
    const UniqueFd directory(
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory) ::fsync(directory.get());
    return {};
}

/// Copies the keys that there are; their names.
Result<std::vector<std::string>> copy_keys(const fs::path& home, const fs::path& to) {
    std::vector<std::string> names;
    for (const std::string_view name : control_plane::kKeyFiles) {
        std::error_code failed;
        if (!fs::exists(home / name, failed)) continue;
        fs::copy_file(home / name, to / name, failed);
        if (failed) return system_error("reading " + (home / name).string(), failed.value());
        names.emplace_back(name);
    }
    return names;
}

Result<std::string> make_backup(const BackupOptions& options) {
    const fs::path home =
        control_plane::state_path(options.state_dir, control_plane::current_caller());
    std::error_code missing;
    if (!fs::exists(home / control_plane::kStoreFile, missing))
        return Error(Code::kNotFound,
                     fmt::format("there is no state of 'muster up' in {}{}", home.string(),
                                 missing ? ": " + missing.message() : ""));
    if (!options.force && fs::exists(options.file, missing)) return there_already(options.file);
    TRY(const PartialBackup partial, PartialBackup::make(options.file));
    const std::string store(control_plane::kStoreFile);
    TRY_VOID(store::copy_store((home / store).string(), (partial.path() / store).string()));
    std::vector<std::string> names{store};
    if (options.keys) {
        TRY(const std::vector<std::string> keys, copy_keys(home, partial.path()));
        names.insert(names.end(), keys.begin(), keys.end());
    }
    const fs::path archive = partial.path() / kArchive;
    TRY(const BackupContents contents, write_backup(partial.path(), names,
                                                    {.version = MUSTER_VERSION,
                                                     .made = format_rfc3339(RealClock().wall_now()),
                                                     .members = {}},
                                                    archive));
    std::error_code ignored;
    const std::uint64_t size = fs::file_size(archive, ignored);
    TRY_VOID(publish(archive, options.file, options.force));
    return fmt::format(
        "the state of {} is in {}: {}{}\n", home.string(), options.file, size_text(size),
        options.keys ? "; with its keys, by which one may do what its admin may" : "");
}

class BackupVerb final : public VerbOf<BackupOptions> {
  public:
    BackupVerb() : VerbOf(kBackupVerb, kBackupHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.value("file", options_.file);
        flags.flag("!--no-keys", options_.keys);
        flags.flag("--force", options_.force);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.file.empty()) return "name the file to make";
        return std::nullopt;
    }
    int run() override {
        const Result<std::string> said = make_backup(options_);
        if (!said) {
            tell_error(kBackupVerb, said.error());
            return 1;
        }
        print(*said);
        return 0;
    }
};

}  // namespace

std::unique_ptr<Verb> backup_verb() { return std::make_unique<BackupVerb>(); }

}  // namespace muster::cli
