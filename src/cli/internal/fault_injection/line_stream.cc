#include "cli/internal/fault_injection/line_stream.h"

#include <array>
#include <utility>

namespace muster::cli {

namespace {

/// The pods of a job of thousands are sent in one line.
constexpr std::size_t kLongest = std::size_t{16} << 20;

}  // namespace

Task<Result<std::optional<std::string>>> LineStream::read() {
    std::array<char, 4096> piece;
    for (;;) {
        const std::size_t end = pending_.find('\n', searched_);
        if (end != pending_.npos) {
            std::string line = pending_.substr(begin_, end - begin_);
            begin_ = searched_ = end + 1;
            co_return std::optional(std::move(line));
        }
        pending_.erase(0, std::exchange(begin_, 0));
        searched_ = pending_.size();
        if (pending_.size() > kLongest) co_return Error(Code::kInvalid, "a line without an end");
        CO_TRY(const std::size_t size, co_await bytes_->read_some(asio::buffer(piece)));
        if (size == 0) co_return std::nullopt;
        pending_.append(piece.data(), size);
    }
}

Task<Result<void>> LineStream::write(std::string line) {
    co_return co_await bytes_->write(asio::const_buffer(line.data(), line.size()));
}

}  // namespace muster::cli
