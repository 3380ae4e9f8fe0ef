#include "net/internal/prefixed_stream.h"

#include <algorithm>

#include "net/forwarding_stream.h"

namespace muster::net {

namespace {

class PrefixedStream final : public ForwardingStream {
  public:
    PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> stream)
        : ForwardingStream(std::move(stream)), prefix_(std::move(prefix)) {}

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        if (prefix_.empty()) return below().read_some(into);
        return read_prefix(into);
    }
    void close() override {
        prefix_.clear();
        below().close();
    }
    bool has_input() const override { return !prefix_.empty() || below().has_input(); }

  private:
    Task<Result<std::size_t>> read_prefix(asio::mutable_buffer into) {
        const std::size_t size = std::min(into.size(), prefix_.size());
        std::copy_n(prefix_.data(), size, static_cast<char*>(into.data()));
        prefix_.erase(0, size);
        co_return size;
    }

    std::string prefix_;
};

}  // namespace

std::unique_ptr<ByteStream> make_prefixed_stream(std::string prefix,
                                                 std::unique_ptr<ByteStream> stream) {
    if (prefix.empty()) return stream;
    return std::make_unique<PrefixedStream>(std::move(prefix), std::move(stream));
}

}  // namespace muster::net
