#include "net/internal/prefixed_stream.h"

#include <algorithm>

namespace muster::net {

namespace {

class PrefixedStream final : public ByteStream {
  public:
    PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> stream)
        : prefix_(std::move(prefix)), stream_(std::move(stream)) {}

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        if (prefix_.empty()) return stream_->read_some(into);
        return read_prefix(into);
    }
    Task<Result<void>> write(ConstBuffers bytes) override { return stream_->write(bytes); }
    Task<Result<void>> shut_down_write() override { return stream_->shut_down_write(); }
    void close() override {
        prefix_.clear();
        stream_->close();
    }
    bool has_input() const override { return !prefix_.empty() || stream_->has_input(); }
    std::string peer_address() const override { return stream_->peer_address(); }

  private:
    Task<Result<std::size_t>> read_prefix(asio::mutable_buffer into) {
        const std::size_t size = std::min(into.size(), prefix_.size());
        std::copy_n(prefix_.data(), size, static_cast<char*>(into.data()));
        prefix_.erase(0, size);
        co_return size;
    }

    std::string prefix_;
    std::unique_ptr<ByteStream> stream_;
};

}  // namespace

std::unique_ptr<ByteStream> make_prefixed_stream(std::string prefix,
                                                 std::unique_ptr<ByteStream> stream) {
    if (prefix.empty()) return stream;
    return std::make_unique<PrefixedStream>(std::move(prefix), std::move(stream));
}

}  // namespace muster::net
