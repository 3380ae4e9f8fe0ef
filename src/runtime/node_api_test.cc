#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apiserver/node_api_contract_test.h"
#include "base/unique_fd.h"
#include "runtime/internal/node_fixture.h"

namespace muster::runtime::node_api_test {
namespace {

/// Pods of real processes, as the contract wants them. What runs waits for its end at a FIFO.
class RealNodeWorld : private NodeWorld {
  public:
    RealNodeWorld() {
        set_up(::geteuid() == 0 ? SandboxMode::kNamespaces : SandboxMode::kNone);
        start_node();
    }
    ~RealNodeWorld() override { tear_down(); }

    TestLoop& loop() { return *this; }
    apiserver::NodeApi& node() { return *logs_of_node; }

    void wait(const std::string& pod) {
        create(pod_json(pod, json::array{json::object{{"name", "main"}, {"image", "image"}}}));
        wait_for(pod, [](const kube::Pod* p) {
            return p != nullptr && main_status(*p).state.waiting &&
                   main_status(*p).state.waiting->reason == "CreateContainerConfigError";
        });
    }
    void run(const std::string& pod, const std::string& text) {
        ASSERT_EQ(::mkfifo(fifo(pod).c_str(), 0600), 0);
        create(pod_json(pod, shell(fmt::format("printf '{}'; cat '{}'", text, fifo(pod)))));
        wait_phase(pod, "Running");
        kube::LogOptions follow;
        follow.follow = true;
        follow.limit_bytes = static_cast<std::int64_t>(text.size());
        EXPECT_EQ(logs(pod, follow), text);
    }
    void finish(const std::string& pod, const std::string& text) {
        // Opens when the container reads, which it does without us.
        UniqueFd end(::open(fifo(pod).c_str(), O_WRONLY | O_CLOEXEC));
        ASSERT_TRUE(end);
        ASSERT_EQ(::write(end.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
        end.reset();
        wait_phase(pod, "Succeeded");
    }
    void run_twice(const std::string& pod, const std::string& first, const std::string& second) {
        create(pod_json(pod,
                        shell(fmt::format("test -e again && exec printf '{}'; touch again; "
                                          "printf '{}'; exit 5",
                                          second, first)),
                        {{"restartPolicy", "OnFailure"}}));
        wait_phase(pod, "Succeeded");
    }

    static std::vector<std::string> says(const std::string& out, const std::string& err, int code) {
        return {"sh", "-c", fmt::format("printf '{}'; printf '{}' >&2; exit {}", out, err, code)};
    }
    static std::vector<std::string> copies() { return {"cat"}; }
    void run_copying(const std::string& pod) {
        create(pod_json(pod, shell("exec cat", {{"stdin", true}, {"stdinOnce", true}})));
        wait_phase(pod, "Running");
    }
    std::uint16_t echoes(const std::string& pod) {
        // No two pods of one test have it, and no other test runs beside this one.
        constexpr std::uint16_t kPort = 8123;
        create(pod_json(pod, shell("exec python3 -c \"\n"
                                   "import os, socket\n"
                                   "s = socket.socket()\n"
                                   "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                                   "s.bind(('127.0.0.1', 8123))\n"
                                   "s.listen()\n"
                                   "print('up', flush=True)\n"
                                   "while True:\n"
                                   "    c = s.accept()[0]\n"
                                   "    while data := c.recv(1000): c.sendall(data)\n"
                                   "    c.close()\n\"")));
        wait_phase(pod, "Running");
        kube::LogOptions follow;
        follow.follow = true;
        follow.limit_bytes = 3;
        EXPECT_EQ(logs(pod, follow), "up\n");
        return kPort;
    }

  private:
    std::string fifo(const std::string& pod) const { return (dir / "work" / pod).string(); }
};

}  // namespace
}  // namespace muster::runtime::node_api_test

namespace muster::apiserver {

INSTANTIATE_TYPED_TEST_SUITE_P(Real, NodeApiContract, runtime::node_api_test::RealNodeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, NodeExecContract, runtime::node_api_test::RealNodeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Real, NodePortContract, runtime::node_api_test::RealNodeWorld);

}  // namespace muster::apiserver
