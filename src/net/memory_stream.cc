#include "net/memory_stream.h"

#include <algorithm>
#include <deque>

#include "base/async/signal.h"
#include "base/check.h"

namespace muster::net {

namespace {

/// One direction. Both ends share it, and either may be destroyed first.
struct Pipe {
    Pipe(const asio::any_io_executor& executor, std::size_t size)
        : capacity(size), changed(executor) {}

    std::size_t capacity;
    std::string bytes;
    bool ended = false;        // nothing more is written
    bool reader_gone = false;  // nothing more is read
    Signal changed;
};

class MemoryStream final : public ByteStream {
  public:
    MemoryStream(std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out)
        : in_(std::move(in)), out_(std::move(out)) {}
    ~MemoryStream() override { close(); }

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        CHECK(into.size() > 0, "a read of nothing");
        for (;;) {
            if (closed_) co_return Error(Code::kCancelled, "the stream was closed");
            if (!in_->bytes.empty()) {
                const std::size_t size = std::min(into.size(), in_->bytes.size());
                std::copy_n(in_->bytes.data(), size, static_cast<char*>(into.data()));
                in_->bytes.erase(0, size);
                in_->changed.notify_all();
                co_return size;
            }
            if (in_->ended) co_return std::size_t{0};
            co_await in_->changed.wait();
        }
    }

    std::size_t write_now(ConstBuffers bytes) override {
        CHECK(!shut_down_, "a write after shut_down_write()");
        if (closed_ || out_->reader_gone) return 0;
        std::size_t taken = 0;
        for (const asio::const_buffer piece : bytes.pieces()) {
            const std::size_t size = std::min(piece.size(), out_->capacity - out_->bytes.size());
            out_->bytes.append(static_cast<const char*>(piece.data()), size);
            taken += size;
        }
        if (taken > 0) out_->changed.notify_all();
        return taken;
    }

    Task<Result<void>> write(ConstBuffers bytes) override {
        CHECK(!shut_down_, "a write after shut_down_write()");
        for (asio::const_buffer piece : bytes.pieces()) {
            while (piece.size() > 0) {
                if (closed_) co_return Error(Code::kCancelled, "the stream was closed");
                if (out_->reader_gone)
                    co_return Error(Code::kUnavailable, "the other side closed the connection");
                const std::size_t room = out_->capacity - out_->bytes.size();
                if (room == 0) {
                    co_await out_->changed.wait();
                    continue;
                }
                const std::size_t size = std::min(room, piece.size());
                out_->bytes.append(static_cast<const char*>(piece.data()), size);
                piece += size;
                out_->changed.notify_all();
            }
        }
        co_return Result<void>();
    }

    Task<Result<void>> shut_down_write() override {
        if (closed_) co_return Error(Code::kCancelled, "the stream was closed");
        if (out_->reader_gone)
            co_return Error(Code::kUnavailable, "the other side closed the connection");
        shut_down_ = true;
        out_->ended = true;
        out_->changed.notify_all();
        co_return Result<void>();
    }

    void close() override {
        if (closed_) return;
        closed_ = true;
        in_->reader_gone = true;
        out_->ended = true;
        in_->changed.notify_all();
        out_->changed.notify_all();
    }

    bool has_input() const override { return closed_ || in_->ended || !in_->bytes.empty(); }

    std::string peer_address() const override { return "memory"; }

  private:
    std::shared_ptr<Pipe> in_;
    std::shared_ptr<Pipe> out_;
    bool shut_down_ = false;
    bool closed_ = false;
};

}  // namespace

std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>> make_memory_streams(
    const asio::any_io_executor& executor, std::size_t capacity) {
    CHECK(capacity > 0, "a pipe without room");
    auto there = std::make_shared<Pipe>(executor, capacity);
    auto back = std::make_shared<Pipe>(executor, capacity);
    return {std::make_unique<MemoryStream>(back, there),
            std::make_unique<MemoryStream>(there, back)};
}

struct MemoryListener::State {
    State(asio::any_io_executor loop, std::size_t bytes)
        : executor(std::move(loop)), capacity(bytes), changed(executor) {}

    asio::any_io_executor executor;
    std::size_t capacity;
    std::deque<std::unique_ptr<ByteStream>> waiting;
    Signal changed;
    bool closed = false;
};

MemoryListener::MemoryListener(asio::any_io_executor executor, std::size_t capacity)
    : state_(std::make_unique<State>(std::move(executor), capacity)) {}

MemoryListener::~MemoryListener() = default;

Result<std::unique_ptr<ByteStream>> MemoryListener::connect() {
    if (state_->closed) return Error(Code::kUnavailable, "no one listens any more");
    auto [client, server] = make_memory_streams(state_->executor, state_->capacity);
    state_->waiting.push_back(std::move(server));
    state_->changed.notify_all();
    return std::move(client);
}

Task<Result<std::unique_ptr<ByteStream>>> MemoryListener::accept() {
    for (;;) {
        if (state_->closed) co_return Error(Code::kCancelled, "the listener was closed");
        if (!state_->waiting.empty()) {
            auto stream = std::move(state_->waiting.front());
            state_->waiting.pop_front();
            co_return std::move(stream);
        }
        co_await state_->changed.wait();
    }
}

void MemoryListener::close() {
    state_->closed = true;
    state_->waiting.clear();
    state_->changed.notify_all();
}

}  // namespace muster::net
