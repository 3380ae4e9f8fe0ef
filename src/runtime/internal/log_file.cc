#include "runtime/internal/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/log.h"
#include "kube/time.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kChunk = 64 * 1024;

/// Where the last `lines` whole lines of the file begin. Walks back from the end, so that the tail
/// of a huge file costs little.
Result<off_t> tail_offset(int fd, std::int64_t lines) {
    struct stat info{};
    if (::fstat(fd, &info) < 0) return system_error("reading a log file", errno);
    if (lines <= 0) return info.st_size;
    std::string text;  // the file from `begin` on, as far as it is not dealt with yet
    off_t begin = info.st_size;
    std::int64_t seen = 0;
    bool last = true;
    for (;;) {
        const std::size_t line_end = text.ends_with('\n') ? text.size() - 1 : text.size();
        const std::size_t before = line_end == 0 ? text.npos : text.rfind('\n', line_end - 1);
        if (before == text.npos && begin > 0) {  // the line's beginning is not in view yet
            const auto size = static_cast<std::size_t>(std::min<off_t>(begin, kChunk));
            std::string more(size, '\0');
            begin -= static_cast<off_t>(size);
            if (::pread(fd, more.data(), size, begin) != static_cast<ssize_t>(size))
                return system_error("reading a log file", errno);
            text.insert(0, more);
            continue;
        }
        if (text.empty()) return 0;
        const std::size_t line_begin = before == text.npos ? 0 : before + 1;
        auto line =
            parse_cri_line(std::string_view(text).substr(line_begin, line_end - line_begin));
        // Pieces belong to the full line that ends them, or to the end of the file.
        if ((!line || line->full || last) && ++seen > lines)
            return begin + static_cast<off_t>(text.size());
        last = false;
        text.resize(line_begin);
    }
}

class LogReader final : public kube::TextStream {
  public:
    LogReader(std::shared_ptr<LogFile> log, UniqueFd fd, off_t offset, kube::LogOptions options,
              std::string since)
        : log_(std::move(log)),
          fd_(std::move(fd)),
          offset_(offset),
          options_(std::move(options)),
          since_(std::move(since)),
          left_(options_.limit_bytes) {}

    Task<Result<std::optional<std::string>>> read() override {
        for (;;) {
            if (left_ && *left_ <= 0) co_return std::nullopt;
            // Looked at before the file, so that nothing written before the end is missed.
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
            co_await log_->changed().wait();
        }
    }

  private:
    /// True when something was read.
    Result<bool> fill() {
        std::array<char, kChunk> buffer;
        const ssize_t size = ::pread(fd_.get(), buffer.data(), buffer.size(), offset_);
        if (size < 0) return system_error("reading a log file", errno);
        offset_ += size;
        raw_.append(buffer.data(), static_cast<std::size_t>(size));
        return size > 0;
    }

    std::string take_lines() {
        std::string text;
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = raw_.find('\n', begin)) != raw_.npos; begin = end + 1) {
            auto line = parse_cri_line(std::string_view(raw_).substr(begin, end - begin));
            if (!line || line->stamp < since_) continue;
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
    UniqueFd fd_;
    off_t offset_;
    kube::LogOptions options_;
    std::string since_;
    std::optional<std::int64_t> left_;
    std::string raw_;
    bool at_line_start_ = true;
};

}  // namespace

Result<std::shared_ptr<LogFile>> LogFile::create(asio::any_io_executor executor,
                                                 std::filesystem::path path) {
    UniqueFd fd(::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    if (!fd) return system_error("making the log file " + path.string(), errno);
    return std::make_shared<LogFile>(std::move(executor), std::move(path), std::move(fd));
}

void LogFile::write(LogStream stream, std::string_view bytes, WallTime now) {
    encoder_.feed(stream, bytes, kube::format_nano_time(now), lines_);
    append(lines_);
    lines_.clear();
}

void LogFile::finish(WallTime now) {
    encoder_.finish(kube::format_nano_time(now), lines_);
    append(lines_);
    lines_.clear();
    finished_ = true;
    fd_.reset();
    changed_.notify_all();
}

void LogFile::append(std::string_view lines) {
    if (lines.empty()) return;
    while (!lines.empty()) {
        const ssize_t written = ::write(fd_.get(), lines.data(), lines.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            // The container goes on; its output is lost from here to when there is room again.
            if (!failed_)
                log::error(
                    "writing a container's log failed; its output is being dropped",
                    {{"file", path_.string()}, {"error", system_error("write", errno).message()}});
            failed_ = true;
            return;
        }
        lines.remove_prefix(static_cast<std::size_t>(written));
    }
    failed_ = false;
    changed_.notify_all();
}

Result<std::unique_ptr<kube::TextStream>> open_log(std::shared_ptr<LogFile> log,
                                                   const kube::LogOptions& options, WallTime now) {
    UniqueFd fd(::open(log->path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return system_error("opening the log file " + log->path().string(), errno);
    off_t offset = 0;
    if (options.tail_lines) {
        TRY(offset, tail_offset(fd.get(), *options.tail_lines));
    }
    std::string since;
    if (options.since_seconds)
        since = kube::format_nano_time(now - std::chrono::seconds(*options.since_seconds));
    return std::make_unique<LogReader>(std::move(log), std::move(fd), offset, options,
                                       std::move(since));
}

}  // namespace muster::runtime
