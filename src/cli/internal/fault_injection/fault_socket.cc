#include "cli/internal/fault_injection/fault_socket.h"

#include <optional>
#include <utility>

#include "base/time/restarting_task.h"
#include "net/accept_each.h"
#include "net/tcp.h"

namespace muster::cli {

/// What a connection has begun. Ends it at the latest when it is destroyed.
class FaultSocket::Held {
  public:
    explicit Held(runtime::Node& node) : node_(node) {}
    ~Held() { (void)end(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    Result<void> begin(const FaultRequest& order, runtime::PodFault drill) {
        if (order_)
            return Error(Code::kAlreadyExists, "a connection has one pause or partition at a time");
        TRY_VOID(node_.begin_fault(order.namespace_, order.pod, drill));
        order_ = order;
        drill_ = drill;
        return {};
    }
    Result<void> end() {
        if (!order_) return {};
        const FaultRequest order = *std::exchange(order_, std::nullopt);
        return node_.end_fault(order.namespace_, order.pod, drill_);
    }
    bool any() const { return order_.has_value(); }

  private:
    runtime::Node& node_;
    std::optional<FaultRequest> order_;
    runtime::PodFault drill_ = runtime::PodFault::kPause;
};

Result<void> FaultSocket::open(const std::filesystem::path& directory) {
    TRY(listener_, net::listen_unix(tasks_.executor(), directory / kFaultSocket));
    const auto take = [this](std::unique_ptr<net::ByteStream> bytes) {
        tasks_.spawn("a drill", serve(std::move(bytes)));
    };
    spawn_restarting(tasks_, clock_, "faults", [this, take] {
        return net::accept_each(*listener_, clock_, "connections of faults", take);
    });
    return {};
}

Task<void> FaultSocket::stop() {
    co_await tasks_.stop();
    listener_.reset();
}

Task<std::string> FaultSocket::list() {
    auto pods = co_await cluster_.client().list(kube::types::kPods, {});
    if (!pods) co_return error_line(pods.error());
    std::vector<RunPod> told;
    for (const kube::ObjectPtr& pod : pods->items)
        if (auto one = run_pod(*pod)) told.push_back(*std::move(one));
    co_return pods_line(told);
}

Task<std::string> FaultSocket::answer(std::string line, Held& held) {
    const auto request = read_request(line);
    if (!request) co_return error_line(request.error());
    if (!*request) co_return co_await list();
    const FaultRequest& order = **request;
    if (order.kind == FaultKind::kKill) {
        const auto sent = cluster_.node().signal(order.namespace_, order.pod, order.signal);
        co_return sent ? done_line(*sent) : error_line(sent.error());
    }
    const auto begun =
        held.begin(order, order.kind == FaultKind::kPause ? runtime::PodFault::kPause
                                                          : runtime::PodFault::kPartition);
    co_return begun ? done_line() : error_line(begun.error());
}

Task<void> FaultSocket::serve(std::unique_ptr<net::ByteStream> bytes) {
    LineStream lines(std::move(bytes));
    Held held(cluster_.node());
    for (;;) {
        auto line = co_await lines.read();
        if (!line || !*line) break;
        if (!co_await lines.write(co_await answer(**std::move(line), held))) break;
    }
    if (!held.any()) co_return;
    const Result<void> ended = held.end();
    // If the client is still there, it is told.
    (void)co_await lines.write(ended ? done_line() : error_line(ended.error()));
}

}  // namespace muster::cli
