// Real agents, each with a connection of its own, without workers.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <optional>

#include "agent/agent.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "elastic_bench.h"
#include "net/tcp.h"
#include "net/tls/tls.h"

namespace muster::elastic {
namespace {

/// What all of them have in common, and how many are how far.
struct Crowd {
    Crowd(const asio::any_io_executor& its_executor, int its_size, int its_port)
        : executor(its_executor),
          size(its_size),
          port(static_cast<std::uint16_t>(its_port)),
          changed(executor) {}

    asio::any_io_executor executor;
    int size;
    std::uint16_t port;
    RealClock clock;
    Rng rng = Rng::from_system();
    std::unique_ptr<net::TlsClientContext> tls;
    int started = 0;  ///< since the count was reset
    int stopped = 0;
    Signal changed;
};

/// They start and stop as they are told, and in no time.
class NoWorkers final : public workers::Workers {
  public:
    explicit NoWorkers(Crowd& crowd) : crowd_(crowd), ended_(crowd.executor) {}

    std::optional<job_protocol::World> running() const override { return world_; }
    Task<Result<void>> start(job_protocol::World world, std::vector<launch::WorkerStart>) override {
        world_ = std::move(world);
        ++crowd_.started;
        crowd_.changed.notify_all();
        co_return Result<void>();
    }
    Task<workers::WorkerEnd> next_end() override {
        while (!end_) co_await ended_.wait();
        workers::WorkerEnd end = *std::move(end_);
        end_.reset();
        co_return end;
    }
    Task<void> stop(Duration) override {
        world_.reset();
        end_.reset();
        ++crowd_.stopped;
        crowd_.changed.notify_all();
        co_return;
    }
    std::optional<std::uint64_t> steps() const override { return std::nullopt; }

    /// One is killed.
    void die() {
        end_ = workers::WorkerEnd{.generation = world_->generation,
                                  .rank = world_->own().first_rank,
                                  .pid = 1,
                                  .signal = 9,
                                  .when = crowd_.clock.wall_now()};
        ended_.notify_all();
    }

  private:
    Crowd& crowd_;
    std::optional<job_protocol::World> world_;
    std::optional<workers::WorkerEnd> end_;
    Signal ended_;
};

/// Agents that share an address on this machine. Each has one of its own in a cluster; with one for
/// all of them the kernel would look for free ports longer than for anything else.
constexpr int kAgentsOfAddress = 1000;

/// A socket whose connections come from the address of that agent.
int socket_of(int number) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) die("no more sockets");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr =
        htonl(INADDR_LOOPBACK + static_cast<std::uint32_t>(number / kAgentsOfAddress));
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
        die("an address of an agent can't be had");
    return fd;
}

Task<Result<std::unique_ptr<net::ByteStream>>> connect(Crowd& crowd, int number) {
    CO_TRY(auto connected, co_await net::connect_tcp_socket(crowd.executor, socket_of(number),
                                                            "127.0.0.1", crowd.port));
    if (!crowd.tls) co_return connected;
    CO_TRY(std::unique_ptr<net::TlsStream> stream,
           co_await crowd.tls->connect(std::move(connected), "127.0.0.1"));
    co_return std::unique_ptr<net::ByteStream>(std::move(stream));
}

struct Node {
    Node(Crowd& crowd, int number)
        : workers(crowd),
          agent(crowd.executor, crowd.clock, crowd.rng, workers,
                {.token = std::string(kToken),
                 .incarnation = crowd.rng.uuid(),
                 .store_port = 29500,
                 .name = fmt::format("worker-{}", number),
                 // For a master in a process of its own, which is told nothing else.
                 .terms = job_protocol::Terms{.min_nodes = crowd.size,
                                              .max_nodes = crowd.size,
                                              .budgets = {{.charge = job_protocol::Charge::kWorker,
                                                           .incidents = 1000}}},
                 // As of agents whose master is elsewhere.
                 .rpc = {.most_retry = std::chrono::milliseconds(250)}},
                {.connect = [&crowd, number] { return connect(crowd, number); },
                 .make_workers =
                     [](const job_protocol::World&, const job_protocol::Member&) {
                         return std::vector<launch::WorkerStart>(1, {.command = {"train"}});
                     },
                 .place = [] { return agent::AgentPlace{.address = "127.0.0.1"}; },
                 .begin_store = [](const job_protocol::World&) {}}) {}

    NoWorkers workers;
    agent::Agent agent;
};

Task<void> live(Node& node) {
    const agent::AgentEnd end = co_await node.agent.run();
    die("an agent ended: " + end.text);
}

Task<void> count(Crowd& crowd, std::deque<Node>& nodes, TaskGroup& tasks) {
    const int all = static_cast<int>(nodes.size());
    const Instant begin = crowd.clock.now();
    for (Node& node : nodes) tasks.spawn("agent", live(node));
    while (crowd.started < all) co_await crowd.changed.wait();
    report("formed", seconds(crowd.clock.now() - begin));
    Commands commands(crowd.executor);
    for (std::size_t victim = 0; co_await commands.next() != '\0'; ++victim) {
        crowd.started = crowd.stopped = 0;
        const Instant death = crowd.clock.now();
        nodes[victim % nodes.size()].workers.die();
        // What is left of the victim's own set is stopped as well.
        while (crowd.stopped < all) co_await crowd.changed.wait();
        report("told", seconds(crowd.clock.now() - death));
        while (crowd.started < all) co_await crowd.changed.wait();
        report("again", seconds(crowd.clock.now() - death));
    }
    co_await tasks.stop();
}

}  // namespace

void run_agents(int count_of_all, int port, const std::string& ca) {
    asio::io_context context(1);
    Crowd crowd(context.get_executor(), count_of_all, port);
    if (!ca.empty())
        crowd.tls =
            must(net::TlsClientContext::create(crowd.clock, {.ca_pem = must_read(ca)}), "TLS");
    std::deque<Node> nodes;
    for (int number = 0; number < count_of_all; ++number) nodes.emplace_back(crowd, number);
    TaskGroup tasks(crowd.executor);
    TaskGroup counts(crowd.executor);
    counts.spawn("count", count(crowd, nodes, tasks));
    context.run();
}

}  // namespace muster::elastic
