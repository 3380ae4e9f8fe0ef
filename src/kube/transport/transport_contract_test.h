#pragma once

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>
#include <string>

#include "base/test_loop.h"
#include "kube/objects/api_status.h"
#include "kube/transport/transport.h"

namespace muster::kube {

/// What every Transport must do, whatever is behind it. A test program names a world with
/// `TestLoop& loop()`, `Transport& transport()`, an API that has the pods "a" and "b" in the
/// namespace "default", and
///
///     void expect_get(name), expect_create(name), expect_list(apart), expect_watch(),
///          expect_refused_watch(), expect_log(), expect_refused_log();
///                               // the next request will be that one: for worlds that are scripted
///     void change(name);        // the pod gets another revision; open watches see it
///     void end_watch();         // a clean end by the server
///     void print(text), end_log();   // whole lines of the container of pod "a", and its end
///
/// and instantiates the suite for it.
template <class World>
class TransportContract : public ::testing::Test {
  protected:
    static Request request(std::string path, Method method = Method::kGet) {
        Request made;
        made.method = method;
        made.path = "/api/v1/namespaces/default/" + std::move(path);
        return made;
    }
    static Request watch_request(std::string resource = "pods") {
        Request made = request(std::move(resource));
        made.query = {{"watch", "true"}};
        return made;
    }
    static Request log_request(std::string pod) {
        Request made = request("pods/" + std::move(pod) + "/log");
        made.query = {{"follow", "true"}};
        return made;
    }
    Result<Response> call(Request made) {
        return world_.loop().await(world_.transport().call(std::move(made)));
    }
    std::unique_ptr<WatchStream> open_watch() {
        world_.expect_watch();
        auto stream = world_.loop().await(world_.transport().watch(watch_request()));
        EXPECT_TRUE(stream) << stream.error().message();
        return stream ? *std::move(stream) : nullptr;
    }
    std::unique_ptr<TextStream> open_log() {
        world_.expect_log();
        auto stream = world_.loop().await(world_.transport().stream_text(log_request("a")));
        EXPECT_TRUE(stream) << stream.error().message();
        return stream ? *std::move(stream) : nullptr;
    }
    /// The name in the next event that is about a change of a pod; "end" at a clean end.
    std::string next(WatchStream& stream) {
        for (;;) {
            auto event = world_.loop().await(stream.next());
            EXPECT_TRUE(event) << event.error().message();
            if (!event || !*event) return event ? "end" : "error";
            EXPECT_NE((**event).object, nullptr);
            if ((**event).type != WatchEventType::kModified) continue;
            const json::value& metadata = (**event).object->at("metadata");
            const auto revision =
                std::stoll(std::string(metadata.at("resourceVersion").as_string()));
            EXPECT_GT(revision, last_revision_) << "in the order of revisions";
            last_revision_ = revision;
            return std::string(metadata.at("name").as_string());
        }
    }
    std::string text_of(TextStream& stream, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) {
            auto piece = world_.loop().await(stream.read());
            EXPECT_TRUE(piece) << piece.error().message();
            if (!piece || !*piece) return text + " and ended";
            EXPECT_FALSE((*piece)->empty());
            text += **piece;
        }
        return text;
    }
    /// Begins to wait and is cancelled.
    template <class T>
    void cancel_in(Task<Result<std::optional<T>>> waiting) {
        bool aborted = false;
        asio::cancellation_signal cancel;
        asio::co_spawn(world_.loop().context, std::move(waiting),
                       asio::bind_cancellation_slot(
                           cancel.slot(), [&](std::exception_ptr thrown, Result<std::optional<T>>) {
                               aborted = thrown != nullptr;
                           }));
        world_.loop().settle();
        EXPECT_FALSE(aborted) << "nothing was there to read";
        cancel.emit(asio::cancellation_type::terminal);
        world_.loop().settle();
        EXPECT_TRUE(aborted);
    }
    static void expect_status(const Result<Response>& answer, int status, Code code,
                              const char* reason) {
        ASSERT_TRUE(answer) << answer.error().message();
        EXPECT_EQ(answer->status, status);
        ASSERT_NE(answer->body, nullptr);
        EXPECT_EQ(answer->body->at("kind"), "Status");
        EXPECT_EQ(answer->body->at("code"), status);
        EXPECT_EQ(answer->body->at("reason"), reason);
        EXPECT_EQ(error_from_status(answer->status, *answer->body).code(), code);
    }

    World world_;
    std::int64_t last_revision_ = 0;
};

TYPED_TEST_SUITE_P(TransportContract);

TYPED_TEST_P(TransportContract, AnAnswerCarriesTheObject) {
    this->world_.expect_get("a");
    const Result<Response> got = this->call(this->request("pods/a"));
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->status, 200);
    ASSERT_NE(got->body, nullptr);
    EXPECT_EQ(got->body->at("kind"), "Pod");
    EXPECT_EQ(got->body->at("metadata").at("name"), "a");
    EXPECT_TRUE(got->items.empty());
}

TYPED_TEST_P(TransportContract, AFailureOfTheApiIsAResponseAndNoError) {
    this->world_.expect_get("none");
    this->expect_status(this->call(this->request("pods/none")), 404, Code::kNotFound, "NotFound");
    this->world_.expect_create("a");
    Request create = this->request("pods", Method::kPost);
    create.body = std::make_shared<const json::value>(json::parse(
        R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"main","image":"i"}]}})"));
    create.body_unread = true;  // of a success
    this->expect_status(this->call(std::move(create)), 409, Code::kAlreadyExists, "AlreadyExists");
}

TYPED_TEST_P(TransportContract, ItemsComeApartOnlyForWhoAsked) {
    for (const bool apart : {false, true}) {
        this->world_.expect_list(apart);
        Request list = this->request("pods");
        list.items_apart = apart;
        const Result<Response> got = this->call(std::move(list));
        ASSERT_TRUE(got) << got.error().message();
        const json::value* body = got->body->as_object().if_contains("items");
        std::vector<std::string> names;
        if (body != nullptr) {
            EXPECT_TRUE(got->items.empty()) << "in one place only";
            for (const json::value& item : body->as_array())
                names.emplace_back(item.at("metadata").at("name").as_string());
        } else {
            EXPECT_TRUE(apart);
            for (const ObjectPtr& item : got->items)
                names.emplace_back(item->at("metadata").at("name").as_string());
        }
        EXPECT_EQ(names, (std::vector<std::string>{"a", "b"})) << apart;
        EXPECT_TRUE(got->body->at("metadata").at("resourceVersion").is_string());
    }
}

TYPED_TEST_P(TransportContract, AWatchBringsEachChangeOnceInOrderAndThenItsEnd) {
    auto watch = this->open_watch();
    ASSERT_NE(watch, nullptr);
    for (const char* name : {"a", "b", "a"}) this->world_.change(name);
    EXPECT_EQ(this->next(*watch), "a");
    EXPECT_EQ(this->next(*watch), "b");
    this->world_.change("b");
    this->world_.end_watch();
    EXPECT_EQ(this->next(*watch), "a");
    EXPECT_EQ(this->next(*watch), "b") << "what was before the end is not lost";
    EXPECT_EQ(this->next(*watch), "end");
}

TYPED_TEST_P(TransportContract, ARefusedWatchIsAnError) {
    this->world_.expect_refused_watch();
    const auto refused =
        this->world_.loop().await(this->world_.transport().watch(this->watch_request("things")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kNotFound);
}

TYPED_TEST_P(TransportContract, AReaderOfAWatchThatIsCancelledLosesNothing) {
    auto watch = this->open_watch();
    ASSERT_NE(watch, nullptr);
    this->world_.change("a");
    EXPECT_EQ(this->next(*watch), "a");
    this->cancel_in(watch->next());
    this->world_.change("b");
    EXPECT_EQ(this->next(*watch), "b");
    this->cancel_in(watch->next());
    this->world_.end_watch();
    EXPECT_EQ(this->next(*watch), "end");
}

TYPED_TEST_P(TransportContract, AWatchEndsWithItsStream) {
    auto watch = this->open_watch();
    ASSERT_NE(watch, nullptr);
    watch.reset();
    this->world_.change("a");  // reaches no watch
    auto next = this->open_watch();
    ASSERT_NE(next, nullptr);
    this->world_.change("b");
    EXPECT_EQ(this->next(*next), "b");
}

TYPED_TEST_P(TransportContract, ATextComesPieceByPieceAndEnds) {
    auto log = this->open_log();
    ASSERT_NE(log, nullptr);
    this->world_.print("one\n");
    EXPECT_EQ(this->text_of(*log, 4), "one\n");
    this->world_.print("two\n");
    this->world_.print("three\n");
    this->world_.end_log();
    EXPECT_EQ(this->text_of(*log, 1000), "two\nthree\n and ended");
}

TYPED_TEST_P(TransportContract, AReaderOfATextThatIsCancelledLosesNothing) {
    auto log = this->open_log();
    ASSERT_NE(log, nullptr);
    this->cancel_in(log->read());
    this->world_.print("one\n");
    EXPECT_EQ(this->text_of(*log, 4), "one\n");
    this->cancel_in(log->read());
    this->world_.end_log();
    EXPECT_EQ(this->text_of(*log, 1000), " and ended");
}

TYPED_TEST_P(TransportContract, ARefusedTextIsAnError) {
    this->world_.expect_refused_log();
    const auto refused =
        this->world_.loop().await(this->world_.transport().stream_text(this->log_request("none")));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kNotFound);
}

REGISTER_TYPED_TEST_SUITE_P(TransportContract, AnAnswerCarriesTheObject,
                            AFailureOfTheApiIsAResponseAndNoError, ItemsComeApartOnlyForWhoAsked,
                            AWatchBringsEachChangeOnceInOrderAndThenItsEnd, ARefusedWatchIsAnError,
                            AReaderOfAWatchThatIsCancelledLosesNothing, AWatchEndsWithItsStream,
                            ATextComesPieceByPieceAndEnds,
                            AReaderOfATextThatIsCancelledLosesNothing, ARefusedTextIsAnError);

}  // namespace muster::kube
