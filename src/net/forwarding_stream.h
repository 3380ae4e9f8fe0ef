#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/byte_stream.h"

namespace muster::net {

/// Forwards every call to the stream below, which it owns; a base for streams that change little.
class ForwardingStream : public ByteStream {
  public:
    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        return below_->read_some(into);
    }
    Task<Result<void>> write(ConstBuffers bytes) override { return below_->write(bytes); }
    std::size_t write_now(ConstBuffers bytes) override { return below_->write_now(bytes); }
    bool has_unsent() const override { return below_->has_unsent(); }
    Task<Result<void>> shut_down_write() override { return below_->shut_down_write(); }
    void close() override { below_->close(); }
    bool has_input() const override { return below_->has_input(); }
    bool gather() override { return below_->gather(); }
    std::string peer_address() const override { return below_->peer_address(); }

  protected:
    explicit ForwardingStream(std::unique_ptr<ByteStream> below) : below_(std::move(below)) {}
    ByteStream& below() { return *below_; }
    const ByteStream& below() const { return *below_; }

  private:
    std::unique_ptr<ByteStream> below_;
};

}  // namespace muster::net
