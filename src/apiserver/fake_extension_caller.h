#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/extension_caller.h"
#include "base/async/signal.h"

namespace muster::apiserver {

/// Servers behind APIServices that answer from memory, for tests. What was asked is in `asked`.
class FakeExtensionCaller final : public ExtensionCaller {
  public:
    struct Asked {
        ExtensionEndpoint endpoint;
        net::HttpRequest request;
        Duration time{};
        Duration body_time{};
    };
    /// What arrives of an answer.
    struct Answer {
        net::HttpResponse head;
        std::vector<std::string> pieces = {};
        bool breaks_off = false;
        bool goes_on = false;  ///< after the pieces nothing comes, and no end
    };

    explicit FakeExtensionCaller(const asio::any_io_executor& executor) : never_(executor) {}

    Task<Result<std::unique_ptr<net::HttpBody>>> open(ExtensionEndpoint endpoint,
                                                      net::HttpRequest request, Duration time,
                                                      Duration body_time) override {
        asked.push_back({endpoint, request, time, body_time});
        if (hangs) co_await never_.wait();
        CO_TRY(Answer answered, answer(asked.back()));
        co_return std::make_unique<Body>(*this, std::move(answered));
    }
    Task<Result<net::HttpUpgrade>> upgrade(ExtensionEndpoint endpoint, net::HttpRequest request,
                                           Duration time) override {
        asked.push_back({endpoint, request, time, {}});
        if (tunnel != nullptr) {
            net::HttpUpgrade upgraded;
            upgraded.response.status = 101;
            upgraded.response.headers = {{"Upgrade", "echo"}, {"Connection", "Upgrade"}};
            upgraded.stream = std::move(tunnel);
            co_return upgraded;
        }
        CO_TRY(Answer answered, answer(asked.back()));
        co_return net::HttpUpgrade{std::move(answered.head), nullptr};
    }

    static Answer text(unsigned status, std::string body, std::string_view type = "text/plain") {
        return {{status, {{"Content-Type", type}}, {}}, {std::move(body)}};
    }

    std::function<Result<Answer>(const Asked&)> answer = [](const Asked&) {
        return Result<Answer>(text(200, "{}"));
    };
    std::vector<Asked> asked;
    bool hangs = false;
    std::unique_ptr<net::ByteStream> tunnel;  ///< the other end of the next upgrade

  private:
    class Body final : public net::HttpBody {
      public:
        Body(FakeExtensionCaller& caller, Answer answered)
            : caller_(caller), answer_(std::move(answered)) {}
        const net::HttpResponse& head() const override { return answer_.head; }
        Task<Result<std::optional<std::string>>> read() override {
            if (next_ < answer_.pieces.size()) co_return answer_.pieces[next_++];
            if (answer_.goes_on) co_await caller_.never_.wait();
            if (answer_.breaks_off) co_return Error(Code::kTimeout, "broke off");
            co_return std::nullopt;
        }
        bool gather() override { return false; }

      private:
        FakeExtensionCaller& caller_;
        Answer answer_;
        std::size_t next_ = 0;
    };

    Signal never_;
};

}  // namespace muster::apiserver
