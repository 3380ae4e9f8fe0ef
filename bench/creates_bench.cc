// muster_creates_bench PORT CA_FILE TOKEN_FILE COUNT CONNECTIONS BYTES: creates pods on an API
// server of this machine, as many at a time as there are connections, and prints the rate as a line
// of JSON. What a server can do beside a client that costs next to nothing.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdlib>

#include "base/async/task_group.h"
#include "base/time/real_clock.h"
#include "manifest/read_files.h"
#include "net/http/http_client.h"

namespace {

using namespace muster;
namespace json = boost::json;

[[noreturn]] void die(const std::string& message) {
    fmt::print(stderr, "muster_creates_bench: {}\n", message);
    std::exit(2);
}

template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message());
    return *std::move(result);
}

/// As `load create` makes them: bound to a node that nothing serves, so that nothing happens to it.
std::string pod_json(const std::string& name, std::size_t bytes) {
    json::object pod = json::parse(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "labels": {"app": "load", "tier": "bench"}},
        "spec": {"nodeName": "elsewhere", "restartPolicy": "Never", "containers": [{
            "name": "main", "image": "registry.example.org/team/train:1",
            "command": ["python", "train.py", "--epochs", "3"], "resources": {},
            "env": [{"name": "RANK", "value": "0"}, {"name": "WORLD_SIZE", "value": "4"}]}]},
        "status": {}})")
                           .as_object();
    json::object& meta = pod["metadata"].as_object();
    meta["name"] = name;
    json::object& notes = meta["annotations"].emplace_object();
    notes["example.org/payload"] = "";
    const std::size_t bare = json::serialize(pod).size();
    if (bare < bytes) notes["example.org/payload"] = std::string(bytes - bare, 'x');
    return json::serialize(pod);
}

struct Load {
    net::HttpClient& client;
    std::string token;
    std::vector<std::string> pods;
    std::size_t next = 0;
};

/// One request after the other, until all pods are there.
Task<void> create(Load& load) {
    while (load.next < load.pods.size()) {
        net::HttpRequest request;
        request.method = "POST";
        request.target = "/api/v1/namespaces/default/pods";
        request.headers.add("Authorization", "Bearer " + load.token);
        request.headers.add("Content-Type", "application/json");
        request.headers.add("Accept", "application/json");
        request.body = std::move(load.pods[load.next++]);
        const net::HttpResponse answer =
            must(co_await load.client.call(std::move(request), std::chrono::seconds(60)));
        if (answer.status != 201)
            die(fmt::format("answered {}: {:.300}", answer.status, answer.body));
    }
}

/// How long all took since `begin`, once they are there.
Task<void> tell(TaskGroup& clients, Clock& clock, Instant begin, int count,
                net::HttpClient& client) {
    co_await clients.join();
    const std::chrono::duration<double> took = clock.now() - begin;
    fmt::print("{}\n", json::serialize(json::object{{"seconds", took.count()},
                                                    {"rate", count / took.count()}}));
    co_await client.stop();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7)
        die("usage: muster_creates_bench PORT CA_FILE TOKEN_FILE COUNT CONNECTIONS BYTES");
    const int port = std::atoi(argv[1]);
    const int count = std::atoi(argv[4]);
    const int connections = std::atoi(argv[5]);
    const int bytes = std::atoi(argv[6]);
    if (port <= 0 || count <= 0 || connections <= 0 || bytes <= 0) die("wants numbers above 0");

    asio::io_context context;
    RealClock clock;
    const auto tls =
        must(net::TlsClientContext::create(clock, {.ca_pem = must(manifest::read_file(argv[2]))}));
    net::HttpClient client(context.get_executor(), clock,
                           net::tcp_connector(context.get_executor(), "127.0.0.1",
                                              static_cast<std::uint16_t>(port), tls.get()),
                           {.idle_connections = static_cast<std::size_t>(connections)});
    Load load{client, must(manifest::read_file(argv[3])), {}};
    const auto run = clock.wall_now().time_since_epoch().count();
    for (int i = 0; i < count; ++i)
        load.pods.push_back(
            pod_json(fmt::format("bare-{}-{:06}", run, i), static_cast<std::size_t>(bytes)));

    TaskGroup tasks(context.get_executor());
    for (int i = 0; i < connections; ++i) tasks.spawn("client", create(load));
    const auto begin = clock.now();
    asio::co_spawn(context, tell(tasks, clock, begin, count, client),
                   [](std::exception_ptr thrown) {
                       if (thrown) std::rethrow_exception(thrown);
                   });
    context.run();
}
