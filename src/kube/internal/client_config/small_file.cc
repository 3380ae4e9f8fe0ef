#include "kube/internal/client_config/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/trimmed.h"

namespace muster::kube {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr const char* kSpace = " \t\r\n\v\f";

}  // namespace

Result<std::string> read_small_file(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error(fmt::format("{} cannot be read", file), errno);
    std::string text;
    std::array<char, 4096> piece;
    ssize_t got = 0;
    int why = 0;
    do {
        got = ::read(descriptor, piece.data(), piece.size());
        why = errno;
        if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    } while ((got > 0 && text.size() <= kMostBytes) || (got < 0 && why == EINTR));
    ::close(descriptor);
    if (got < 0) return system_error(fmt::format("{} cannot be read", file), why);
    if (text.size() > kMostBytes)
        return Error(
            Code::kInvalid,
            fmt::format("{} is larger than {} bytes: it is not a certificate, key or token", file,
                        kMostBytes));
    return text;
}

Result<std::string> read_word(const std::string& file) {
    TRY(const std::string text, read_small_file(file));
    const std::string_view word = trimmed(text, kSpace);
    if (word.empty()) return Error(Code::kInvalid, fmt::format("{} is empty", file));
    return std::string(word);
}

}  // namespace muster::kube
