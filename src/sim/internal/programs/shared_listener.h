#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/memory_stream.h"

namespace muster::sim {

/// A master's share of what listens at its endpoint, which the network of pods has too.
class SharedListener final : public net::Listener {
  public:
    explicit SharedListener(std::shared_ptr<net::MemoryListener> listener)
        : listener_(std::move(listener)) {}
    ~SharedListener() override { listener_->close(); }

    Task<Result<std::unique_ptr<net::ByteStream>>> accept() override { return listener_->accept(); }
    void close() override { listener_->close(); }
    std::string address() const override { return listener_->address(); }

  private:
    std::shared_ptr<net::MemoryListener> listener_;
};

}  // namespace muster::sim
