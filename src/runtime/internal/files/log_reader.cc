#include "runtime/internal/files/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/time/bounded_seconds.h"
#include "kube/values/time.h"
#include "pod_init/container_log.h"
#include "pod_init/cri_log.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kChunk = 64 * 1024;
/// The memory that a reader keeps while nothing is written.
constexpr std::size_t kKept = 4 * 1024;
constexpr std::string_view kGap =
    "muster: a part of this log was removed before it was read: it was written faster than it was "
    "read, and a log is kept only up to a size\n";

struct OpenFile {
    UniqueFd fd;
    ino_t inode = 0;
    off_t size = 0;
};

Result<std::optional<OpenFile>> open_file(const LogFile& log, std::uint32_t age) {
    const std::string name = pod_init::log_file_name(log.path().filename(), age);
    OpenFile file;
    file.fd.reset(::openat(log.directory(), name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.fd && errno == ENOENT) return std::nullopt;
    struct stat info{};
    if (!file.fd || ::fstat(file.fd.get(), &info) < 0)
        return system_error("opening the log file " + log.path().string(), errno);
    file.inode = info.st_ino;
    file.size = info.st_size;
    return std::optional(std::move(file));
}

/// Counts whole lines from the end of a log, newest file first.
struct Tail {
    std::int64_t left;
    bool last = true;
};

/// Where in the file the tail begins; 0 if it begins before. Walks back from the end, so that the
/// tail of a huge file costs little.
Result<off_t> tail_offset(const OpenFile& file, Tail& tail) {
    std::string text;  // the file from `begin` on, as far as it is not handled yet
    off_t begin = file.size;
    for (;;) {
        const std::size_t line_end = text.ends_with('\n') ? text.size() - 1 : text.size();
        const std::size_t before = line_end == 0 ? text.npos : text.rfind('\n', line_end - 1);
        if (before == text.npos && begin > 0) {  // the line's beginning is not in view yet
            const auto size = static_cast<std::size_t>(std::min<off_t>(begin, kChunk));
            std::string more(size, '\0');
            begin -= static_cast<off_t>(size);
            if (::pread(file.fd.get(), more.data(), size, begin) != static_cast<ssize_t>(size))
                return system_error("reading a log file", errno);
            text.insert(0, more);
            continue;
        }
        if (text.empty()) return 0;
        const std::size_t line_begin = before == text.npos ? 0 : before + 1;
        auto line = pod_init::parse_cri_line(
            std::string_view(text).substr(line_begin, line_end - line_begin));
        // Pieces belong to the full line that ends them, or to the end of the log.
        if (!line || line->full || tail.last) {
            if (tail.left == 0) return begin + static_cast<off_t>(text.size());
            --tail.left;
        }
        tail.last = false;
        text.resize(line_begin);
    }
}

class LogReader final : public kube::TextStream {
  public:
    LogReader(std::shared_ptr<LogFile> log, OpenFile file, off_t offset, kube::LogOptions options,
              std::string since)
        : log_(std::move(log)),
          file_(std::move(file)),
          offset_(offset),
          options_(std::move(options)),
          since_(std::move(since)),
          left_(options_.limit_bytes) {}

    Task<Result<std::optional<std::string>>> read() override {
        for (;;) {
            if (left_ && *left_ <= 0) co_return std::nullopt;
            // Checked before the file, so that nothing written before the end is missed.
            const bool finished = log_->finished();
            CO_TRY(const bool more, fill());
            std::string text = take_lines();
            if (!text.empty()) {
                if (left_) {
                    if (static_cast<std::int64_t>(text.size()) > *left_)
                        text.resize(static_cast<std::size_t>(*left_));
                    *left_ -= static_cast<std::int64_t>(text.size());
                }
                co_return std::optional(std::move(text));
            }
            if (more) continue;
            if (!options_.follow || finished) co_return std::nullopt;
            if (raw_.capacity() > kKept) raw_.shrink_to_fit();  // it may wait for long
            co_await log_->changed().wait();
        }
    }

  private:
    /// True if something was read, or another file begun.
    Result<bool> fill() {
        TRY(const bool some, read_chunk());
        if (some) return true;
        TRY(auto next, next_file());
        if (!next) return false;
        // What was written between our last read and the file's end.
        TRY(const bool rest, read_chunk());
        if (rest) return true;
        file_ = *std::move(next);
        offset_ = 0;
        return true;
    }

    Result<bool> read_chunk() {
        std::array<char, kChunk> buffer;
        const ssize_t size = ::pread(file_.fd.get(), buffer.data(), buffer.size(), offset_);
        if (size < 0) return system_error("reading a log file", errno);
        offset_ += size;
        raw_.append(buffer.data(), static_cast<std::size_t>(size));
        return size > 0;
    }

    /// The file that was begun after ours, if there is one. Files may be renamed to a greater age
    /// while we look, never to a lesser one: so walking upwards we meet ours, and the one before it
    /// in our walk is its successor.
    Result<std::optional<OpenFile>> next_file() {
        std::optional<OpenFile> newer;
        for (std::uint32_t age = 0;; ++age) {
            TRY(auto file, open_file(*log_, age));
            if (!file) {
                // For a moment there is no newest file, while one is replaced.
                if (age == 0) continue;
                if (newer) gap_ = true;
                return newer;
            }
            if (file->inode == file_.inode) return newer;
            newer = std::move(file);
        }
    }

    std::string take_lines() {
        std::string text;
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = raw_.find('\n', begin)) != raw_.npos; begin = end + 1) {
            auto line = pod_init::parse_cri_line(std::string_view(raw_).substr(begin, end - begin));
            if (!line || line->stamp < since_) continue;
            if (std::exchange(gap_, false)) text += kGap;
            if (options_.timestamps && at_line_start_) {
                text += line->stamp;
                text += ' ';
            }
            text += line->text;
            if (line->full) text += '\n';
            at_line_start_ = line->full;
        }
        raw_.erase(0, begin);
        return text;
    }

    std::shared_ptr<LogFile> log_;
    OpenFile file_;
    off_t offset_;
    kube::LogOptions options_;
    std::string since_;
    std::optional<std::int64_t> left_;
    std::string raw_;
    bool at_line_start_ = true;
    bool gap_ = false;
};

}  // namespace

Result<std::unique_ptr<kube::TextStream>> open_log(std::shared_ptr<LogFile> log, LogWatch* watch,
                                                   const kube::LogOptions& options, WallTime now) {
    if (options.follow && !log->finished()) TRY_VOID(watch->follow(log));
    TRY(auto newest, open_file(*log, 0));
    if (!newest) return Error(Code::kNotFound, "the log was removed");
    OpenFile file = *std::move(newest);
    off_t offset = 0;
    Tail tail{.left = options.tail_lines.value_or(std::numeric_limits<std::int64_t>::max())};
    for (std::uint32_t age = 1;; ++age) {
        if (tail.left == 0) {
            offset = file.size;
            break;
        }
        if (options.tail_lines) {
            TRY(offset, tail_offset(file, tail));
            if (offset > 0) break;
        }
        TRY(auto older, open_file(*log, age));
        if (!older) break;
        if (older->inode == file.inode) continue;  // it was renamed meanwhile
        file = *std::move(older);
    }
    std::string since;
    if (options.since_seconds)
        since = kube::format_nano_time(now - bounded_seconds(*options.since_seconds));
    return std::make_unique<LogReader>(std::move(log), std::move(file), offset, options,
                                       std::move(since));
}

}  // namespace muster::runtime
