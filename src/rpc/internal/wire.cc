#include "rpc/internal/wire.h"

#include <array>

#include "base/check.h"
#include "base/fault.h"

namespace muster::rpc {
namespace {

/// The cost of an idle connection: there are many agents, and their messages are small.
constexpr std::size_t kReadBytes = 512;
/// Capacity kept for the next frames after many were queued.
constexpr std::size_t kKeptForWriting = std::size_t{4} * 1024;

}  // namespace

Wire::Wire(std::unique_ptr<net::ByteStream> stream, const asio::any_io_executor& executor,
           Limits limits, std::size_t longest_first_frame)
    : stream_(std::move(stream)),
      limits_(limits),
      reader_(longest_first_frame),
      changed_(executor) {}

Task<Result<std::optional<Frame>>> Wire::read() {
    std::array<char, kReadBytes> bytes;
    for (;;) {
        CO_TRY(std::optional<Frame> frame, reader_.next());
        if (frame) co_return frame;
        const std::size_t most = fault_point() ? 1 : bytes.size();
        CO_TRY(const std::size_t size,
               co_await stream_->read_some(asio::buffer(bytes.data(), most)));
        if (size == 0) {
            if (reader_.torn())
                co_return Error(Code::kUnavailable, "the connection ended within a message");
            co_return std::optional<Frame>();
        }
        reader_.put({bytes.data(), size});
    }
}

Task<void> Wire::discard() {
    std::array<char, kReadBytes> bytes;
    for (;;) {
        const auto size = co_await stream_->read_some(asio::buffer(bytes));
        if (!size || *size == 0) co_return;
    }
}

Result<void> Wire::queue(const Frame& frame) {
    if (ending_ || closed_) return Error(Code::kUnavailable, "the connection has ended");
    const bool is_next = writer_waits_ && queued_.empty();
    TRY_VOID(append_frame(queued_, frame, limits_.longest_frame));
    // Most answers are short and find the writer idle; waking it costs as much as the answer.
    if (is_next && !fault_point()) queued_.erase(0, stream_->write_now(asio::buffer(queued_)));
    if (!queued_.empty() || stream_->has_unsent()) changed_.notify_all();
    return {};
}

Task<void> Wire::room() {
    while (!closed_ && !ending_ && queued_.size() >= limits_.queued) co_await changed_.wait();
}

Task<Result<void>> Wire::write_queued() {
    std::string out;
    while (!closed_) {
        if (queued_.empty() && !stream_->has_unsent()) {
            if (ending_) co_return co_await stream_->shut_down_write();
            writer_waits_ = true;
            co_await changed_.wait();
            writer_waits_ = false;
            continue;
        }
        out.clear();
        if (out.capacity() > kKeptForWriting) out.shrink_to_fit();
        std::swap(out, queued_);
        changed_.notify_all();
        CO_TRY_VOID(co_await stream_->write(asio::buffer(out)));
    }
    co_return Error(Code::kCancelled, "the connection was closed");
}

void Wire::end_with(const Frame& last) {
    if (ending_ || closed_) return;
    CHECK(append_frame(queued_, last, limits_.longest_frame), "a farewell is short");
    ending_ = true;
    changed_.notify_all();
}

void Wire::end_with_bytes(std::string_view last) {
    if (ending_ || closed_) return;
    queued_ += last;
    ending_ = true;
    changed_.notify_all();
}

void Wire::close() {
    if (closed_) return;
    closed_ = true;
    stream_->close();
    changed_.notify_all();
}

}  // namespace muster::rpc
