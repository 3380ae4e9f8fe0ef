#include "control_plane/internal/webhook_client.h"

#include <gtest/gtest.h>

#include "base/async/task_group.h"
#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::control_plane::webhook_client_test {
namespace {

using namespace std::chrono_literals;

class WebhookClientTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ~WebhookClientTest() override { await(client_.stop()); }

    Task<void> ask() {
        apiserver::WebhookEndpoint endpoint;
        endpoint.host = "localhost";
        endpoint.pod = apiserver::PodPort{"default", "p", 8443};
        answer_ = co_await client_.post(std::move(endpoint), "{}", 10s);
    }

    std::vector<std::unique_ptr<net::ByteStream>> silent_;  ///< the webhook's ends of connections
    WebhookClient client_{
        context.get_executor(), clock,
        [this](apiserver::PodPort) -> Task<Result<std::unique_ptr<net::ByteStream>>> {
            auto [near, far] = net::make_memory_streams(context.get_executor());
            silent_.push_back(std::move(far));
            co_return std::move(near);
        }};
    std::optional<Result<std::string>> answer_;
};

TEST_F(WebhookClientTest, AWebhookThatDoesNotAnswerIsGivenUp) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn("ask", ask());
    settle();
    EXPECT_EQ(silent_.size(), 1u);
    EXPECT_FALSE(answer_);
    advance(10s);
    ASSERT_TRUE(answer_);
    EXPECT_EQ(answer_->error().code(), Code::kTimeout);
    await(tasks.stop());
}

TEST_F(WebhookClientTest, WhoeverAsksMayBeCancelled) {
    TaskGroup tasks(context.get_executor());
    tasks.spawn("ask", ask());
    settle();
    await(tasks.stop());
    EXPECT_FALSE(answer_);
}

}  // namespace
}  // namespace muster::control_plane::webhook_client_test
