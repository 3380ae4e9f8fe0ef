#include "workers/worker/error_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/parse_number.h"
#include "base/unique_fd.h"
#include "base/utf8.h"

namespace muster::workers {

namespace json = boost::json;

namespace {

/// A traceback is a few kilobytes; a message may contain a tensor.
constexpr off_t kMostRead = off_t{16} << 20;
constexpr std::size_t kMostMessage = 4096;

const json::value* find(const json::value& in, std::string_view key) {
    const json::object* object = in.if_object();
    return object == nullptr ? nullptr : object->if_contains(key);
}

std::string text_of(const json::value* value) {
    if (value == nullptr) return {};
    if (const json::string* text = value->if_string()) return std::string(*text);
    return json::serialize(*value);
}

std::optional<std::int64_t> seconds_of(const json::value* value) {
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) {
        const double number = value->to_number<double>();
        if (!(number > 0 && number < 1e11)) return std::nullopt;
        return static_cast<std::int64_t>(number);
    }
    const json::string* text = value->if_string();
    if (text == nullptr) return std::nullopt;
    const auto number = leading_number<std::int64_t>(*text);
    if (!number || *number <= 0 || *number > 100'000'000'000) return std::nullopt;
    return number;
}

/// The content has whole seconds, and the file is written within that second or just after: then
/// its modification time is more exact, and shows which of several failures was first.
std::optional<WallTime> finer(std::optional<std::int64_t> second, std::optional<WallTime> written) {
    if (!second) return written;
    const WallTime stated{std::chrono::seconds(*second)};
    if (written && *written >= stated && *written < stated + std::chrono::seconds(2))
        return written;
    return stated;
}

std::string shortened(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (text.size() <= kMostMessage) return text;
    const std::size_t whole = text.size();
    text.resize(cut_utf8(text, kMostMessage).size());
    return fmt::format("{}... ({} of {} bytes)", text, text.size(), whole);
}

/// Up to kMostRead bytes, and up to an error.
std::string read_all(int file) {
    std::string content;
    char part[4096];
    while (content.size() < static_cast<std::size_t>(kMostRead)) {
        const ssize_t size = ::read(file, part, sizeof part);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        content.append(part, static_cast<std::size_t>(size));
    }
    return content;
}

}  // namespace

ErrorFile parse_error_file(std::string_view content, std::optional<WallTime> written) {
    ErrorFile file;
    file.when = written;
    if (content.find_first_not_of(" \t\r\n") == content.npos) {
        file.message =
            "(its error file is empty: it was killed, or the disk was full, while it was written)";
        return file;
    }
    boost::system::error_code error;
    const json::value root = json::parse(content, error);
    if (error) {
        const bool cut = error == json::error::incomplete;
        file.message = fmt::format(
            "(its error file {}, {}: {})", cut ? "was cut off" : "is not JSON",
            cut ? "it was killed or the disk was full while it was written" : error.message(),
            shortened(std::string(content.substr(0, 200))));
        return file;
    }
    const json::value* const message = find(root, "message");
    if (message == nullptr) {
        file.message = fmt::format("(its error file has no \"message\": {})",
                                   shortened(std::string(content.substr(0, 200))));
        return file;
    }
    if (message->is_object()) {
        file.message = shortened(text_of(find(*message, "message")));
        const json::value* const extra = find(*message, "extraInfo");
        if (extra != nullptr) {
            file.traceback = text_of(find(*extra, "py_callstack"));
            file.when = finer(seconds_of(find(*extra, "timestamp")), written);
        }
    } else {
        file.message = shortened(text_of(message));
        file.when = finer(seconds_of(find(root, "timestamp")), written);
    }
    if (file.message.empty()) file.message = "(its error file has an empty message)";
    return file;
}

std::optional<ErrorFile> read_error_file(const std::filesystem::path& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        return ErrorFile{
            .message = fmt::format("(its error file can't be read: {})", ::strerrordesc_np(errno)),
            .when = std::nullopt};
    }
    struct stat info{};
    std::optional<WallTime> written;
    if (::fstat(file.get(), &info) == 0)
        written = WallTime{std::chrono::seconds(info.st_mtim.tv_sec) +
                           std::chrono::nanoseconds(info.st_mtim.tv_nsec)};
    if (info.st_size > kMostRead)
        return ErrorFile{.message = fmt::format(
                             "(its error file is too large to be read: {} bytes)", info.st_size),
                         .when = written};
    std::string content = read_all(file.get());
    ErrorFile parsed = parse_error_file(content, written);
    parsed.content = std::move(content);
    return parsed;
}

}  // namespace muster::workers
