#pragma once

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "net/forwarding_stream.h"
#include "net/memory_stream.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace muster::rpc {

/// A connection that a test can cut.
class CutStream final : public net::ForwardingStream {
  public:
    using Handle = std::shared_ptr<net::ByteStream*>;

    CutStream(std::unique_ptr<net::ByteStream> stream, Handle handle)
        : ForwardingStream(std::move(stream)), handle_(std::move(handle)) {
        *handle_ = &below();
    }
    ~CutStream() override { *handle_ = nullptr; }

  private:
    Handle handle_;
};

/// Servers and clients on one loop with virtual time, with connections in memory. Everything that a
/// test makes is stopped at the end of the test.
class RpcFixture : public ::testing::Test, protected SimulatedLoop {
  protected:
    void TearDown() override {
        readers_end();
        await(tasks.stop());
        clients.clear();
        for (auto& server : servers) await(server->stop());
    }
    /// Releases what a test still holds of clients.
    virtual void readers_end() {}

    /// Makes the server that clients reach from now on. Add handlers, then serve.
    Server& make_server(ServerLimits limits = {}) {
        servers.push_back(std::make_unique<Server>(
            context.get_executor(), clock,
            Server::Options{.token = "secret",
                            .name = "server-" + std::to_string(servers.size()),
                            .limits = limits}));
        return *servers.back();
    }
    void serve(Server& server) {
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        listener = listening.get();
        server.serve(std::move(listening));
    }

    Client& make_client(ClientLimits limits = {}, std::string token = "secret",
                        std::string name = "") {
        if (name.empty()) name = "client-" + std::to_string(clients.size());
        clients.push_back(std::make_unique<Client>([this] { return connect(); }, clock, rng, tasks,
                                                   Client::Options{.token = std::move(token),
                                                                   .name = std::move(name),
                                                                   .about = "a test",
                                                                   .limits = limits}));
        clients.back()->start();
        return *clients.back();
    }

    Task<Result<std::unique_ptr<net::ByteStream>>> connect() {
        ++connects;
        if (connect_throws) throw std::runtime_error("a connector's fault");
        if (listener == nullptr) co_return Error(Code::kUnavailable, "nobody listens");
        CO_TRY(auto stream, listener->connect());
        cables.push_back(std::make_shared<net::ByteStream*>());
        co_return std::make_unique<CutStream>(std::move(stream), cables.back());
    }

    /// Cuts all current connections.
    void cut() {
        for (const auto& cable : cables)
            if (*cable != nullptr) (*cable)->close();
        cables.clear();
    }

    Rng rng{7};
    TaskGroup tasks{context.get_executor()};
    std::vector<std::unique_ptr<Server>> servers;
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<CutStream::Handle> cables;
    net::MemoryListener* listener = nullptr;
    int connects = 0;
    bool connect_throws = false;
};

}  // namespace muster::rpc
