#include "cli/internal/record/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/text_files.h"
#include "kube/values/read_json.h"

namespace muster::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLockFile = "lock";
/// Of folders that are not whole: of a run that is about to begin, and of one that is removed.
constexpr std::string_view kUnfinished = ".new-";
/// A name is taken by the first of those that start at once.
constexpr int kNameTries = 1000;
/// A few files of logs.
constexpr std::uint64_t kLeastRoom = std::uint64_t{64} << 20;

std::vector<fs::path> entries_of(const fs::path& directory) {
    std::vector<fs::path> entries;
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed))
        entries.push_back(entry->path());
    return entries;
}

/// Made for this user only, who alone may write to it.
Result<void> make_own_directory(const fs::path& path) {
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
        return system_error("making the directory " + path.string(), errno);
    struct stat info{};
    if (::stat(path.c_str(), &info) < 0)
        return system_error("looking at the directory " + path.string(), errno);
    if (!S_ISDIR(info.st_mode)) return Error(Code::kInvalid, path.string() + " is not a directory");
    if (info.st_uid != ::geteuid())
        return Error(Code::kForbidden, path.string() + " is another user's");
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return Error(Code::kForbidden, "others may write to " + path.string());
    return {};
}

Result<void> check_room(const fs::path& directory) {
    std::error_code failed;
    const std::uintmax_t room = fs::space(directory, failed).available;
    if (failed || room >= kLeastRoom) return {};
    return Error(Code::kUnavailable,
                 fmt::format("only {} MiB are free in {}", room >> 20, directory.string()));
}

int next_number(const fs::path& runs, const std::string& job) {
    int greatest = 0;
    for (const fs::path& entry : entries_of(runs)) {
        const std::string name = entry.filename();
        if (job_of_run(name) == job) greatest = std::max(greatest, number_of_run(name));
    }
    return greatest + 1;
}

bool is_locked(const fs::path& folder) {
    const UniqueFd lock(::open((folder / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    // Shared, so that two readers do not take each other for the run.
    return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

}  // namespace

fs::path runs_directory(const control_plane::Caller& caller) {
    if (const std::string named = caller.variable("MUSTER_RUNS_DIR"); !named.empty())
        return fs::path(caller.working_dir) / named;
    return fs::path(caller.home()) / ".muster" / "runs";
}

Result<RunFolder> RunFolder::create(const fs::path& runs, const std::string& job) {
    TRY_VOID(make_own_directory(runs));
    TRY_VOID(check_room(runs));
    const fs::path fresh = runs / fmt::format("{}{}", kUnfinished, ::getpid());
    std::error_code ignored;
    fs::remove_all(fresh, ignored);  // of a killed process with our number
    if (::mkdir(fresh.c_str(), 0700) < 0)
        return system_error("making a folder in " + runs.string(), errno);
    UniqueFd lock(::open((fresh / kLockFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    Error failure = system_error("locking a folder in " + runs.string(), errno);
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
        const int first = next_number(runs, job);
        for (int number = first; number < first + kNameTries; ++number) {
            // Only an empty directory is replaced, and a run's is never empty.
            fs::path path = runs / fmt::format("{}-{}", job, number);
            if (::rename(fresh.c_str(), path.c_str()) == 0)
                return RunFolder(std::move(path), std::move(lock));
            failure = system_error("making the folder " + path.string(), errno);
            if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
        }
    }
    fs::remove_all(fresh, ignored);
    return failure;
}

Result<void> RunFolder::write(const char* file, std::string_view text) const {
    const fs::path path = path_ / file;
    const fs::path fresh = path_ / fmt::format(".{}.new", file);
    const UniqueFd made(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!made) return system_error("making " + fresh.string(), errno);
    if (const int failed = write_all(made.get(), text); failed != 0) {
        ::unlink(fresh.c_str());
        return system_error("writing " + path.string(), failed);
    }
    if (::rename(fresh.c_str(), path.c_str()) < 0)
        return system_error("replacing " + path.string(), errno);
    return {};
}

void RunFolder::discard() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Result<FoundRun> read_run(const fs::path& folder) {
    FoundRun run{.record = {}, .folder = folder, .alive = is_locked(folder), .bytes = 0};
    std::error_code missing;
    if (!fs::is_directory(folder, missing))
        return Error(Code::kNotFound, "there is no run " + folder.filename().string());
    const Result<std::string> text = read_run_file(folder, kRunFile);
    const auto value = text ? kube::read_json(*text) : std::nullopt;
    Result<RunRecord> record = value ? run_record(*value) : Error(Code::kInvalid, "");
    if (record) run.record = *std::move(record);
    run.record.name = folder.filename();
    if (run.record.end) run.bytes = run.record.end->bytes;
    return run;
}

Result<std::vector<FoundRun>> list_runs(const fs::path& runs) {
    std::vector<FoundRun> found;
    std::error_code failed;
    fs::directory_iterator entry(runs, failed);
    if (failed == std::errc::no_such_file_or_directory) return found;
    if (failed) return system_error("reading the directory " + runs.string(), failed.value());
    for (const fs::path& folder : entries_of(runs)) {
        if (number_of_run(folder.filename()) == 0) continue;
        if (Result<FoundRun> run = read_run(folder)) found.push_back(*std::move(run));
    }
    sort_runs(found);
    return found;
}

void remove_old_runs(const fs::path& runs, const RunLimits& limits) {
    for (const fs::path& entry : entries_of(runs))
        if (entry.filename().string().starts_with(kUnfinished) && !is_locked(entry))
            std::ignore = remove_run(entry);
    Result<std::vector<FoundRun>> found = list_runs(runs);
    if (!found) return;
    // One whose process was killed has not said how large it is.
    for (FoundRun& run : *found)
        if (!run.alive && !run.record.end) run.bytes = bytes_of_folder(run.folder);
    for (const FoundRun& run : runs_over_limits(*std::move(found), limits))
        std::ignore = remove_run(run.folder);
}

Result<void> remove_run(const fs::path& folder) {
    std::error_code failed;
    fs::remove_all(folder, failed);
    if (failed) return system_error("removing " + folder.string(), failed.value());
    return {};
}

Result<std::string> read_run_file(const fs::path& folder, const char* file) {
    const fs::path path = folder / file;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return Error(Code::kNotFound, "there is no " + path.string());
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::uint64_t bytes_of_folder(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code gone;
        if (!entry->is_regular_file(gone) || gone) continue;
        const std::uintmax_t size = entry->file_size(gone);
        if (!gone) bytes += size;
    }
    return bytes;
}

std::size_t trim_files(const fs::path& directory, std::uint64_t bytes) {
    struct Kept {
        fs::file_time_type changed;
        fs::path path;
        std::uint64_t bytes;
    };
    std::vector<Kept> files;
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(directory, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code gone;
        if (!entry->is_regular_file(gone) || gone || entry->path().extension() == ".json") continue;
        files.push_back({entry->last_write_time(gone), entry->path(), entry->file_size(gone)});
    }
    std::ranges::sort(files, std::greater(), &Kept::changed);
    std::uint64_t kept = 0;
    std::size_t removed = 0;
    for (const Kept& file : files) {
        kept += file.bytes;
        if (kept > bytes && ::unlink(file.path.c_str()) == 0) ++removed;
    }
    return removed;
}

}  // namespace muster::cli
