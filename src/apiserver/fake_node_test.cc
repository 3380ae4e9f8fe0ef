#include "apiserver/fake_node.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "apiserver/node_api_contract_test.h"

namespace muster::apiserver::fake_node_test {
namespace {

class FakeNodeWorld {
  public:
    TestLoop& loop() { return loop_; }
    NodeApi& node() { return node_; }
    void wait(const std::string& pod) {
        node_.add_container("default", pod, "main", "CreateContainerConfigError");
    }
    void run(const std::string& pod, const std::string& text) {
        wait(pod);
        node_.start("default", pod, "main");
        node_.write("default", pod, "main", text);
    }
    void finish(const std::string& pod, const std::string& text) {
        node_.write("default", pod, "main", text);
        node_.end("default", pod, "main");
    }
    void run_twice(const std::string& pod, const std::string& first, const std::string& second) {
        run(pod, first);
        node_.end("default", pod, "main");
        node_.start("default", pod, "main");
        finish(pod, second);
    }

    static std::vector<std::string> says(const std::string& out, const std::string& err, int code) {
        return {"says", out, err, std::to_string(code)};
    }
    static std::vector<std::string> copies() { return {"copies"}; }
    void run_copying(const std::string& pod) { run(pod, "log\n"); }
    std::uint16_t echoes(const std::string& pod) {
        run(pod, "listening\n");
        node_.listen("default", pod, 80, port_);
        asio::co_spawn(loop_.context, echo(port_), asio::detached);
        return 80;
    }

  private:
    static Task<void> echo(net::MemoryListener& port) {
        while (auto accepted = co_await port.accept()) {
            std::string buffer(1000, '\0');
            for (;;) {
                const auto size = co_await (*accepted)->read_some(asio::buffer(buffer));
                if (!size || *size == 0) break;
                std::ignore = co_await (*accepted)->write(asio::buffer(buffer.data(), *size));
            }
        }
    }

    SimulatedLoop loop_;
    FakeNode node_{loop_.context.get_executor(), loop_.clock};
    net::MemoryListener port_{loop_.context.get_executor()};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Fake, NodeApiContract, FakeNodeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, NodeExecContract, FakeNodeWorld);
INSTANTIATE_TYPED_TEST_SUITE_P(Fake, NodePortContract, FakeNodeWorld);

// A real node's log can't be made old in a test.
TEST(FakeNodeTest, SinceLeavesOutWhatIsOlder) {
    SimulatedLoop loop;
    FakeNode node(loop.context.get_executor(), loop.clock);
    node.add_container("default", "p", "main");
    node.start("default", "p", "main");
    node.write("default", "p", "main", "old\n");
    loop.advance(std::chrono::seconds(60));
    node.write("default", "p", "main", "new\n");
    kube::LogOptions since;
    since.container = "main";
    since.since_seconds = 10;
    auto stream = loop.await(node.logs("default", "p", since));
    ASSERT_TRUE(stream);
    EXPECT_EQ(loop.await((*stream)->read())->value_or(""), "new\n");
    EXPECT_FALSE(loop.await((*stream)->read())->has_value());
}

}  // namespace
}  // namespace muster::apiserver::fake_node_test
