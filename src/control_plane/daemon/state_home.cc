#include "control_plane/daemon/state_home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>

#include "base/text_files.h"
#include "kube/values/read_json.h"

namespace muster::control_plane {

namespace {

const char* lock_file(StateLock whose) {
    return whose == StateLock::kDaemon ? "lock" : "supervisor.lock";
}

/// An open file that is closed at the end of its scope.
class File {
  public:
    File(const std::filesystem::path& path, int flags)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

Result<std::string> read_all(int fd, const std::string& path) {
    std::string text;
    char buffer[4096];
    off_t at = 0;
    for (;;) {
        const ssize_t size = ::pread(fd, buffer, sizeof(buffer), at);
        if (size < 0) return system_error("reading " + path, errno);
        if (size == 0) return text;
        text.append(buffer, static_cast<std::size_t>(size));
        at += size;
    }
}

/// The content that a daemon wrote to its lock. A daemon that has just taken it has not written
/// yet.
Daemon parse_daemon(std::string_view text) {
    const std::optional<json::value> value = kube::read_json(text);
    Daemon daemon;
    const json::object* object = value ? value->if_object() : nullptr;
    if (object == nullptr) return daemon;
    if (const json::value* pid = object->if_contains("pid"); pid != nullptr && pid->is_int64())
        daemon.pid = static_cast<pid_t>(pid->get_int64());
    if (const json::value* address = object->if_contains("address");
        address != nullptr && address->is_string())
        daemon.address = address->get_string().c_str();
    if (const json::value* version = object->if_contains("version");
        version != nullptr && version->is_string())
        daemon.version = version->get_string().c_str();
    return daemon;
}

Result<void> make_private_directory(const std::filesystem::path& path) {
    if (::mkdir(path.c_str(), 0700) == 0) return {};
    if (errno != EEXIST) return system_error("making the directory " + path.string(), errno);
    struct stat info{};
    // Through a link of another user what is written would land where that user wants it.
    struct stat link{};
    if (::lstat(path.c_str(), &link) < 0 || ::stat(path.c_str(), &info) < 0)
        return system_error("looking at the directory " + path.string(), errno);
    if (!S_ISDIR(info.st_mode)) return Error(Code::kInvalid, path.string() + " is not a directory");
    if (info.st_uid != ::geteuid() || (link.st_uid != ::geteuid() && link.st_uid != 0))
        return Error(Code::kForbidden,
                     fmt::format("{} belongs to another user, who could take over what runs from "
                                 "it; name another directory with --state, or run muster as "
                                 "that user",
                                 path.string()));
    if ((info.st_mode & 0022) != 0)
        return Error(
            Code::kForbidden,
            fmt::format("other users may write to {} and so take over what runs from it; make it "
                        "private (chmod 700) or name another directory with --state",
                        path.string()));
    return {};
}

}  // namespace

Result<StateHome> StateHome::take(std::filesystem::path path, StateLock whose) {
    std::error_code failed;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), failed);
    if (failed)
        return system_error("making the directory " + path.parent_path().string(), failed.value());
    TRY_VOID(make_private_directory(path));
    const std::filesystem::path file = path / lock_file(whose);
    File lock(file, O_RDWR | O_CREAT);
    if (!lock) return system_error("opening " + file.string(), errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK) return system_error("locking " + file.string(), errno);
        TRY(const std::string text, read_all(lock.get(), file.string()));
        const Daemon other = parse_daemon(text);
        return Error(
            Code::kAlreadyExists,
            fmt::format("muster is {} in {}{}; 'muster status' shows more, 'muster down' stops it",
                        whose == StateLock::kDaemon ? "up already" : "supervised already",
                        path.string(),
                        other.pid > 0 ? fmt::format(" (process {})", other.pid) : ""));
    }
    StateHome home(std::move(path), whose, lock.release());
    TRY_VOID(home.announce({.pid = ::getpid(), .address = {}}));
    return home;
}

StateHome::~StateHome() {
    if (lock_ >= 0) ::close(lock_);
}

Result<void> StateHome::announce(const Daemon& daemon) const {
    const std::string path = (path_ / lock_file(whose_)).string();
    json::object said{{"pid", daemon.pid}, {"address", daemon.address}};
    if (!daemon.version.empty()) said.emplace("version", daemon.version);
    const std::string text = json::serialize(said) + "\n";
    // In one write, so that a concurrent reader sees either text.
    if (::pwrite(lock_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ::ftruncate(lock_, static_cast<off_t>(text.size())) < 0)
        return system_error("writing " + path, errno);
    return {};
}

Result<std::filesystem::path> StateHome::make_directory(const std::string& name) const {
    std::filesystem::path made = path_ / name;
    TRY_VOID(make_private_directory(made));
    return made;
}

Result<std::optional<std::string>> StateHome::read(const std::string& name) const {
    const std::filesystem::path path = path_ / name;
    const File file(path, O_RDONLY);
    if (!file && errno == ENOENT) return std::optional<std::string>();
    if (!file) return system_error("opening " + path.string(), errno);
    TRY(std::string text, read_all(file.get(), path.string()));
    return std::optional<std::string>(std::move(text));
}

Result<void> StateHome::write(const std::string& name, std::string_view text) const {
    return write_private_file(path_ / name, text);
}

std::filesystem::path state_path(const std::string& option, const Caller& caller) {
    if (!option.empty()) return std::filesystem::absolute(option);
    return std::filesystem::path(caller.home()) / ".muster";
}

Result<std::optional<Daemon>> find_daemon(const std::filesystem::path& path, StateLock whose) {
    const std::filesystem::path name = path / lock_file(whose);
    const File lock(name, O_RDONLY);
    if (!lock && (errno == ENOENT || errno == ENOTDIR)) return std::optional<Daemon>();
    if (!lock) return system_error("opening " + name.string(), errno);
    // Shared, so that two readers do not take each other for a daemon.
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::optional<Daemon>();
    if (errno != EWOULDBLOCK) return system_error("looking at the lock " + name.string(), errno);
    TRY(const std::string text, read_all(lock.get(), name.string()));
    return std::optional<Daemon>(parse_daemon(text));
}

Result<void> write_private_file(const std::filesystem::path& path, std::string_view text) {
    const std::filesystem::path directory =
        path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    std::error_code exists;
    if (!std::filesystem::is_directory(directory, exists)) {
        std::filesystem::create_directories(directory.parent_path(), exists);
        TRY_VOID(make_private_directory(directory));
    }
    std::filesystem::path fresh = path;
    fresh += ".new";
    {
        const File file(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
        if (!file) return system_error("opening " + fresh.string(), errno);
        if (::fchmod(file.get(), 0600) < 0)
            return system_error("changing the mode of " + fresh.string(), errno);
        if (const int failed = write_all(file.get(), text); failed != 0)
            return system_error("writing " + fresh.string(), failed);
        if (::fsync(file.get()) < 0) return system_error("writing " + fresh.string(), errno);
    }
    if (::rename(fresh.c_str(), path.c_str()) < 0)
        return system_error("replacing " + path.string(), errno);
    const File parent(directory, O_RDONLY | O_DIRECTORY);
    if (!parent || ::fsync(parent.get()) < 0)
        return system_error("writing the directory " + directory.string(), errno);
    return {};
}

}  // namespace muster::control_plane
