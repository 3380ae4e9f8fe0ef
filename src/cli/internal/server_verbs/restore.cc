#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/visible_text.h"
#include "cli/internal/backup/backup_file.h"
#include "cli/internal/connect/on_server.h"
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

constexpr std::string_view kRestoreHelp =
    R"(Brings back the state of 'muster up' from a file of 'muster backup'. 'muster up' must be down.

Usage: muster restore FILE [FLAGS]

      --force                replace the state that is there; it is kept in DIR/replaced until the next time
      --state DIR            its state directory (default: ~/.muster)

All of the file is checked before anything is changed. Pods that ran when it was made are taken for lost by the next
'muster up', and jobs go on as after a reboot of the machine.

Exit status: 0; 1 when the file is damaged or of a newer version, when there is a state already, or 'muster up' is
running. Nothing was changed then.

Examples:
  muster down && muster restore ~/muster-2026-01-31.backup --force && muster up --detach
)";

constexpr const char* kRestoreVerb = "restore";
constexpr const char* kUnpacked = "restoring";
constexpr const char* kReplaced = "replaced";

struct RestoreOptions {
    std::string file;
    std::string state_dir;
    bool force = false;
};

/// An empty one, of this user alone.
Result<fs::path> fresh_directory(const fs::path& path) {
    std::error_code failed;
    fs::remove_all(path, failed);
    if (failed) return system_error("removing " + path.string(), failed.value());
    if (::mkdir(path.c_str(), 0700) != 0) return system_error("making " + path.string(), errno);
    return path;
}

Result<void> move_file(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    fs::rename(from, to, failed);
    if (failed)
        return system_error(fmt::format("moving {} to {}", from.string(), to.string()),
                            failed.value());
    return {};
}

bool is_there(const fs::path& path) {
    std::error_code failed;
    return fs::exists(path, failed);
}

/// Pods of the state that is to be replaced would run on without anyone to know of them.
Result<void> check_no_pods(const fs::path& home) {
    std::error_code missing;
    const fs::path pods = home / control_plane::kNodeDirectory / "pods";
    if (!fs::exists(pods, missing) || fs::is_empty(pods, missing)) return {};
    return Error(Code::kInvalid,
                 fmt::format("pods of {} may still run: 'muster down' ends them", home.string()));
}

/// Keeps the present files that the backup replaces. The store itself stays, under a second name, so
/// that there is one at each moment.
Result<void> keep_present(const fs::path& home, const BackupContents& contents) {
    TRY(const fs::path kept, fresh_directory(home / kReplaced));
    const std::string store((home / control_plane::kStoreFile).string());
    // Carries its log over into it. One that is damaged is kept with its log.
    std::ignore = store::check_store(store);
    std::error_code failed;
    fs::create_hard_link(store, kept / control_plane::kStoreFile, failed);
    if (failed) fs::copy_file(store, kept / control_plane::kStoreFile, failed);
    if (failed) return system_error("keeping " + store, failed.value());
    for (const char* part : {"-wal", "-shm"})
        if (is_there(store + part))
            TRY_VOID(
                move_file(store + part, kept / (std::string(control_plane::kStoreFile) + part)));
    for (const BackupMember& member : contents.members)
        if (member.name != control_plane::kStoreFile && is_there(home / member.name))
            TRY_VOID(move_file(home / member.name, kept / member.name));
    return {};
}

Result<void> install(const fs::path& from, const fs::path& home, const BackupContents& contents) {
    for (const BackupMember& member : contents.members)
        if (member.name != control_plane::kStoreFile)
            TRY_VOID(move_file(from / member.name, home / member.name));
    const std::string store(control_plane::kStoreFile);
    return move_file(from / store, home / store);
}

Result<std::string> restore_backup(const RestoreOptions& options) {
    const fs::path path =
        control_plane::state_path(options.state_dir, control_plane::current_caller());
    TRY(const auto supervisor,
        control_plane::find_daemon(path, control_plane::StateLock::kSupervisor));
    if (supervisor)
        return Error(
            Code::kAlreadyExists,
            fmt::format("muster is supervised in {}; 'muster down' stops it", path.string()));
    // Before anything is made, also the directory.
    if (!is_there(options.file))
        return Error(Code::kNotFound, fmt::format("there is no file {}", options.file));
    TRY(const control_plane::StateHome home, control_plane::StateHome::take(path));
    const bool replaces = is_there(path / control_plane::kStoreFile);
    if (replaces && !options.force)
        return Error(
            Code::kAlreadyExists,
            fmt::format("there is a state in {} already; --force replaces it", path.string()));
    TRY_VOID(check_no_pods(path));
    TRY(const fs::path unpacked, fresh_directory(path / kUnpacked));
    auto contents = unpack_backup(options.file, unpacked);
    Result<void> done;
    if (!contents) done = contents.error();
    if (done) done = store::check_store((unpacked / control_plane::kStoreFile).string());
    if (!done) done = Error(done.error()).prefix(options.file);
    if (done && replaces) done = keep_present(path, *contents);
    if (done) done = install(unpacked, path, *contents);
    std::error_code ignored;
    fs::remove_all(unpacked, ignored);
    if (!done) return std::move(done.error());
    return fmt::format(
        "the state in {} is that of {}{}\n", path.string(), visible_text(contents->made),
        replaces ? fmt::format("; the one before is in {}", (path / kReplaced).string()) : "");
}

class RestoreVerb final : public VerbOf<RestoreOptions> {
  public:
    RestoreVerb() : VerbOf(kRestoreVerb, kRestoreHelp) {}

    void declare(Flags& flags) override {
        declare_state_flag(flags, options_.state_dir);
        flags.value("file", options_.file);
        flags.flag("--force", options_.force);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (options_.file.empty()) return "name the file of 'muster backup'";
        return std::nullopt;
    }
    int run() override {
        const Result<std::string> said = restore_backup(options_);
        if (!said) {
            tell_error(kRestoreVerb, said.error());
            return 1;
        }
        print(*said);
        return 0;
    }
};

}  // namespace

std::unique_ptr<Verb> restore_verb() { return std::make_unique<RestoreVerb>(); }

}  // namespace muster::cli
