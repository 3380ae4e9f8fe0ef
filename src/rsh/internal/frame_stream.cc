#include "rsh/internal/frame_stream.h"

#include <array>

namespace muster::rsh {

namespace {

/// However a write ends, the next one may begin.
class Turn {
  public:
    Turn(bool& taken, Signal& given) : taken_(taken), given_(given) { taken_ = true; }
    ~Turn() {
        taken_ = false;
        given_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    bool& taken_;
    Signal& given_;
};

}  // namespace

Task<Result<std::optional<Frame>>> FrameStream::read() {
    std::array<char, std::size_t{32} * 1024> bytes;
    for (;;) {
        CO_TRY(std::optional<Frame> frame, reader_.next());
        if (frame) co_return frame;
        CO_TRY(const std::size_t size, co_await stream_->read_some(asio::buffer(bytes)));
        if (size == 0) {
            if (reader_.between_frames()) co_return std::optional<Frame>();
            co_return Error(Code::kUnavailable, "the connection ended in the middle of a frame");
        }
        reader_.put({bytes.data(), size});
    }
}

Task<void> FrameStream::take_turn() {
    while (writing_) co_await written_.wait();
}

Task<Result<void>> FrameStream::write(std::string frames) {
    co_await take_turn();
    if (shut_down_) co_return Error(Code::kCancelled, "nothing is sent after the farewell");
    const Turn turn(writing_, written_);
    co_return co_await stream_->write(asio::buffer(frames));
}

Task<Result<void>> FrameStream::write(FrameType type, std::string payload) {
    const std::string head = frame_head(type, payload.size());
    co_await take_turn();
    if (shut_down_) co_return Error(Code::kCancelled, "nothing is sent after the farewell");
    const Turn turn(writing_, written_);
    co_return co_await stream_->write({asio::buffer(head), asio::buffer(payload)});
}

Task<Result<void>> FrameStream::shut_down_write() {
    co_await take_turn();
    const Turn turn(writing_, written_);
    shut_down_ = true;
    co_return co_await stream_->shut_down_write();
}

}  // namespace muster::rsh
