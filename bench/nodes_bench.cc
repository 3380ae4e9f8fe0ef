// muster_nodes_bench PORT CA_FILE TOKEN_FILE [client]: stand-in nodes for an API server of this
// machine, and a stopwatch. Binds each pod and says that it runs, as a kubelet would, and lets pods
// that are deleted go; notes when pods and the conditions of jobs came. Takes commands on standard
// input, a line each, and answers each by a line of JSON; times are seconds of one clock.
//
//   post FILE N         posts what the file has, lines of {"path": ..., "object": ...}, N at a time
//   chain FILE          posts the first line's object, and the second's, a pod, once a watch shows
//                       the first; until a watch shows the pod
//   wait pods N         until N pods have been seen since the last reset
//   wait running N      until N pods were said to run
//   wait ran PREFIX     until a pod whose name begins so was said to run: when it was
//   wait jobs N         until N jobs have the condition Running
//   wait gone           until there is no pod
//   wait first PREFIX   until a pod whose name begins so was seen
//   watch PATH          jobs of a kind, by the path of their list
//   reset               forgets what was seen
//
// As a client it only posts: a process of its own beside the nodes, as an operator is one.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "kube/client/client.h"
#include "kube/client/reflector.h"
#include "kube/objects/core_objects.h"
#include "kube/transport/credentials.h"
#include "kube/transport/http_transport.h"
#include "kube/values/json_access.h"
#include "manifest/read_files.h"
#include "net/http/http_client.h"

namespace {

using namespace muster;

constexpr int kNodeWorkers = 16;
constexpr std::size_t kConnections = 128;

[[noreturn]] void die(const std::string& message) {
    fmt::print(stderr, "muster_nodes_bench: {}\n", message);
    std::exit(2);
}

template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message());
    return *std::move(result);
}

std::string text_at(const json::value& object, std::string_view pointer) {
    boost::system::error_code missing;
    const json::value* found = object.find_pointer(pointer, missing);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

bool job_runs(const json::value& job) {
    boost::system::error_code missing;
    const json::value* conditions = job.find_pointer("/status/conditions", missing);
    if (conditions == nullptr || !conditions->is_array()) return false;
    for (const json::value& condition : conditions->get_array())
        if (kube::string_at(condition.as_object(), "type") == "Running" &&
            kube::string_at(condition.as_object(), "status") == "True")
            return true;
    return false;
}

class Bench {
  public:
    Bench(asio::io_context& context, Clock& clock, Rng& rng, kube::Transport& transport)
        : clock_(clock),
          rng_(rng),
          client_(transport, "stand-in-nodes"),
          transport_(transport),
          input_(context, ::dup(0)),
          changed_(context.get_executor()),
          work_(context.get_executor()),
          tasks_(context.get_executor()) {}

    Task<void> run(bool with_nodes) {
        if (with_nodes) start_nodes();
        co_await obey_all();
        co_await tasks_.stop();
    }

  private:
    void start_nodes() {
        pods_ = std::make_unique<kube::Reflector>(
            client_, clock_, rng_, kube::types::kPods, kube::ListOptions{},
            kube::Reflector::Sink{
                .begin_list = [] {},
                .listed = [this](std::string key, kube::ObjectPtr pod) { see_pod(key, *pod); },
                .end_list = [] {},
                .upsert = [this](const std::string& key,
                                 kube::ObjectPtr pod) { see_pod(key, *pod); },
                .erase = [this](const std::string& key) { lose_pod(key); }});
        pods_->start(tasks_);
        for (int i = 0; i < kNodeWorkers; ++i) tasks_.spawn("node", serve_pods());
    }

    Task<void> obey_all() {
        asio::streambuf buffer;
        for (;;) {
            boost::system::error_code ended;
            co_await asio::async_read_until(input_, buffer, '\n',
                                            asio::redirect_error(asio::use_awaitable, ended));
            if (ended) break;
            std::istream in(&buffer);
            std::string line;
            std::getline(in, line);
            const json::object said = co_await obey(line);
            fmt::print("{}\n", json::serialize(said));
            std::fflush(stdout);
        }
    }

    struct Posts {
        std::vector<kube::Request> requests;
        std::size_t next = 0;
    };

    double now() const {
        return std::chrono::duration<double>(clock_.now().time_since_epoch()).count();
    }

    void see_pod(const std::string& key, const json::value& pod) {
        const double at = now();
        if (there_.insert(key).second) {
            ++seen_;
            last_seen_ = at;
            names_.push_back(key);
        }
        const bool deleting = !text_at(pod, "/metadata/deletionTimestamp").empty();
        const std::string phase = text_at(pod, "/status/phase");
        if (phase == "Running" && ran_at_.emplace(key, at).second) {
            ++running_;
            last_running_ = at;
        }
        if (deleting || phase == "Pending" || phase.empty()) {
            to_do_.push_back({key, deleting, text_at(pod, "/spec/nodeName").empty()});
            work_.notify_all();
        }
        changed_.notify_all();
    }
    void lose_pod(const std::string& key) {
        there_.erase(key);
        ran_at_.erase(key);
        begun_.erase(key);
        last_gone_ = now();
        changed_.notify_all();
    }
    void see_job(const std::string& key, const json::value& job) {
        if (jobs_there_.insert(key).second) changed_.notify_all();
        if (job_runs(job) && running_jobs_.insert(key).second) {
            last_job_ = now();
            changed_.notify_all();
        }
    }

    Task<void> serve_pods() {
        for (;;) {
            while (to_do_.empty()) co_await work_.wait();
            const ToDo next = std::move(to_do_.front());
            to_do_.pop_front();
            const std::size_t slash = next.key.find('/');
            const std::string ns = next.key.substr(0, slash);
            const std::string name = next.key.substr(slash + 1);
            if (next.deleting) {
                kube::DeleteOptions at_once;
                at_once.grace_period_seconds = 0;
                (void)co_await client_.remove(kube::types::kPods, ns, name, at_once);
                continue;
            }
            if (!begun_.insert(next.key).second) continue;
            if (next.unbound) {
                json::object binding{
                    {"apiVersion", "v1"},
                    {"kind", "Binding"},
                    {"metadata", json::object{{"name", name}, {"namespace", ns}}},
                    {"target",
                     json::object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", "stand-in"}}}};
                (void)co_await client_.create_subresource(kube::types::kPods, ns, name, "binding",
                                                          std::move(binding));
            }
            json::object status{
                {"phase", "Running"},
                {"podIP", fmt::format("10.1.{}.{}", address_ / 250 % 250, address_ % 250 + 1)},
                {"conditions", json::array{json::object{{"type", "Ready"}, {"status", "True"}}}}};
            (void)co_await client_.patch(kube::types::kPods, ns, name,
                                         kube::ContentType::kMergePatch,
                                         json::object{{"status", std::move(status)}}, "status");
        }
    }

    Task<void> post_some(std::shared_ptr<Posts> posts) {
        while (posts->next < posts->requests.size()) {
            kube::Request request = std::move(posts->requests[posts->next++]);
            const kube::Response answer = must(co_await transport_.call(std::move(request)));
            if (answer.status != 201)
                die(fmt::format("answered {}: {:.500}", answer.status,
                                json::serialize(*answer.body)));
        }
    }

    static std::shared_ptr<Posts> read_posts(const std::string& file) {
        auto posts = std::make_shared<Posts>();
        std::ifstream lines(file);
        for (std::string line; std::getline(lines, line);) {
            json::value one = json::parse(line);
            kube::Request request;
            request.method = kube::Method::kPost;
            request.path = std::string(one.at("path").get_string());
            request.body = std::make_shared<const json::value>(one.at("object"));
            posts->requests.push_back(std::move(request));
        }
        return posts;
    }

    Task<json::object> post(const std::string& file, int parallel) {
        const std::shared_ptr<Posts> posts = read_posts(file);
        const double began = now();
        TaskGroup group(tasks_.executor());
        for (int i = 0; i < parallel; ++i) group.spawn("client", post_some(posts));
        co_await group.join();
        co_return json::object{{"began", began}, {"ended", now()}};
    }

    /// What an operator does that has nothing else to do.
    Task<json::object> chain(const std::string& file) {
        std::vector<kube::Request> requests = std::move(read_posts(file)->requests);
        if (requests.size() != 2) die("a chain has two objects: " + file);
        const auto key_of = [](const kube::Request& request) {
            return "default/" + text_at(*request.body, "/metadata/name");
        };
        const std::string job = key_of(requests[0]);
        const std::string pod = key_of(requests[1]);
        const double began = now();
        for (kube::Request& request : requests) {
            auto one = std::make_shared<Posts>();
            one->requests.push_back(std::move(request));
            tasks_.spawn("link", post_some(std::move(one)));
            while (!jobs_there_.contains(job)) co_await changed_.wait();
        }
        while (!there_.contains(pod)) co_await changed_.wait();
        co_return json::object{{"began", began}, {"ended", now()}};
    }

    Task<json::object> obey(const std::string& line) {
        std::istringstream words(line);
        std::string verb, what, value;
        words >> verb >> what >> value;
        if (verb == "post") co_return co_await post(what, std::atoi(value.c_str()));
        if (verb == "chain") co_return co_await chain(what);
        if (verb == "reset") {
            seen_ = running_ = 0;
            running_jobs_.clear();
            names_.clear();
            co_return json::object{{"at", now()}};
        }
        if (verb == "watch") {
            watch_jobs(what);
            co_return json::object{{"at", now()}};
        }
        if (verb != "wait") die("no such command: " + line);
        const auto count = static_cast<std::size_t>(std::atoi(value.c_str()));
        if (what == "pods") {
            while (seen_ < count) co_await changed_.wait();
            co_return json::object{{"at", last_seen_}};
        }
        if (what == "running") {
            while (running_ < count) co_await changed_.wait();
            co_return json::object{{"at", last_running_}};
        }
        if (what == "ran") {
            const auto found = [&] {
                return std::ranges::find_if(ran_at_, [&](const auto& one) {
                    return one.first.substr(one.first.find('/') + 1).starts_with(value);
                });
            };
            while (found() == ran_at_.end()) co_await changed_.wait();
            co_return json::object{{"at", found()->second}};
        }
        if (what == "jobs") {
            while (running_jobs_.size() < count) co_await changed_.wait();
            co_return json::object{{"at", last_job_}};
        }
        if (what == "gone") {
            while (!there_.empty()) co_await changed_.wait();
            co_return json::object{{"at", last_gone_}};
        }
        if (what == "first") {
            while (std::ranges::none_of(names_, [&](const std::string& key) {
                return key.substr(key.find('/') + 1).starts_with(value);
            }))
                co_await changed_.wait();
            co_return json::object{{"at", now()}};
        }
        die("no such thing to wait for: " + line);
    }

    /// `path`: [group/]version/plural, of kubeflow.org where there is no group.
    void watch_jobs(const std::string& path) {
        const std::size_t before_plural = path.rfind('/');
        const std::string api = path.substr(0, before_plural);
        const std::size_t after_group = api.find('/');
        kube::ResourceType type = kube::types::kPods;
        type.group = after_group == std::string::npos ? "kubeflow.org" : api.substr(0, after_group);
        type.version = after_group == std::string::npos ? api : api.substr(after_group + 1);
        type.plural = path.substr(before_plural + 1);
        jobs_.push_back(std::make_unique<kube::Reflector>(
            client_, clock_, rng_, type, kube::ListOptions{},
            kube::Reflector::Sink{
                .begin_list = [] {},
                .listed = [this](std::string key, kube::ObjectPtr job) { see_job(key, *job); },
                .end_list = [] {},
                .upsert = [this](const std::string& key,
                                 kube::ObjectPtr job) { see_job(key, *job); },
                .erase = [](const std::string&) {}}));
        jobs_.back()->start(tasks_);
    }

    struct ToDo {
        std::string key;
        bool deleting;
        bool unbound;
    };

    Clock& clock_;
    Rng& rng_;
    kube::Client client_;
    kube::Transport& transport_;
    asio::posix::stream_descriptor input_;
    Signal changed_;
    Signal work_;
    std::unique_ptr<kube::Reflector> pods_;
    std::vector<std::unique_ptr<kube::Reflector>> jobs_;
    std::deque<ToDo> to_do_;
    std::unordered_set<std::string> there_, begun_, jobs_there_, running_jobs_;
    std::unordered_map<std::string, double> ran_at_;
    std::vector<std::string> names_;
    std::size_t seen_ = 0, running_ = 0;
    unsigned address_ = 0;
    double last_seen_ = 0, last_running_ = 0, last_job_ = 0, last_gone_ = 0;
    TaskGroup tasks_;
};

}  // namespace

int main(int argc, char** argv) {
    const bool client = argc == 5 && std::string_view(argv[4]) == "client";
    if (argc != 4 && !client) die("usage: muster_nodes_bench PORT CA_FILE TOKEN_FILE [client]");
    asio::io_context context(1);
    RealClock clock;
    Rng rng = Rng::from_system();
    const auto tls =
        must(net::TlsClientContext::create(clock, {.ca_pem = must(manifest::read_file(argv[2]))}));
    net::HttpClient http(
        context.get_executor(), clock,
        net::tcp_connector(context.get_executor(), "127.0.0.1",
                           static_cast<std::uint16_t>(std::atoi(argv[1])), tls.get()),
        {.idle_connections = kConnections});
    kube::FixedToken token(must(manifest::read_file(argv[3])));
    kube::HttpTransport transport(http, token, {});
    Bench bench(context, clock, rng, transport);
    asio::co_spawn(
        context,
        [](Bench& bench, bool with_nodes, net::HttpClient& http) -> Task<void> {
            co_await bench.run(with_nodes);
            co_await http.stop();
        }(bench, !client, http),
        [](std::exception_ptr thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
    context.run();
}
