#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>

#include "apiserver/api_server.h"
#include "apiserver/objects/json_access.h"
#include "base/test_loop.h"
#include "kube/client/client.h"
#include "kube/transport/transport_names.h"
#include "kube/values/document.h"

namespace muster::apiserver {

/// A started server on virtual time, and the requests of a client that waits for each answer.
class ServerFixture : public ::testing::Test, protected SimulatedLoop {
  protected:
    using Query = std::vector<std::pair<std::string, std::string>>;

    explicit ServerFixture(ApiServerOptions options = {}) : options_(options) { restart(); }
    ~ServerFixture() override { stop(); }

    /// Starts again with an empty store.
    void restart() {
        stop();
        server_ = std::make_unique<ApiServer>(context.get_executor(), clock, rng_,
                                              store::make_memory_store(), options_);
        const Result<void> started = await(server_->start());
        EXPECT_TRUE(started.has_value()) << started.error().message();
    }
    void stop() {
        if (server_ == nullptr) return;
        await(server_->stop());
        server_.reset();
    }

    kube::Response call(kube::Method method, std::string path, kube::ObjectPtr body = nullptr,
                        Query query = {}, kube::ContentType type = kube::ContentType::kJson) {
        kube::Request request;
        request.method = method;
        request.path = std::move(path);
        request.query = std::move(query);
        request.content_type = type;
        request.body = std::move(body);
        Result<kube::Response> response = await(server_->call(std::move(request)));
        if (!response) {
            ADD_FAILURE() << response.error().message();
            return {};
        }
        return *std::move(response);
    }
    static kube::ObjectPtr parse(std::string_view text) {
        return std::make_shared<const json::value>(json::parse(std::string(text)));
    }
    kube::Response get(std::string path, Query query = {}) {
        return call(kube::Method::kGet, std::move(path), nullptr, std::move(query));
    }
    kube::Response post(std::string path, std::string_view body, Query query = {}) {
        return call(kube::Method::kPost, std::move(path), parse(body), std::move(query));
    }
    kube::Response put(std::string path, json::value body, Query query = {}) {
        return call(kube::Method::kPut, std::move(path),
                    std::make_shared<const json::value>(std::move(body)), std::move(query));
    }
    kube::Response merge_patch(std::string path, std::string_view body, Query query = {}) {
        return call(kube::Method::kPatch, std::move(path), parse(body), std::move(query),
                    kube::ContentType::kMergePatch);
    }
    kube::Response remove(std::string path, std::string_view body = "{}", Query query = {}) {
        return call(kube::Method::kDelete, std::move(path), parse(body), std::move(query));
    }

    std::unique_ptr<kube::WatchStream> open_watch(std::string path, Query query = {}) {
        Result<std::unique_ptr<kube::WatchStream>> stream =
            try_watch(std::move(path), std::move(query));
        EXPECT_TRUE(stream.has_value()) << stream.error().message();
        return stream ? *std::move(stream) : nullptr;
    }
    Result<std::unique_ptr<kube::WatchStream>> try_watch(std::string path, Query query = {}) {
        kube::Request request;
        request.path = std::move(path);
        request.query = std::move(query);
        request.query.emplace_back("watch", "true");
        return await(server_->watch(std::move(request)));
    }

    struct Seen {
        kube::WatchEventType type{};
        kube::ObjectPtr object;
    };
    /// The events that have arrived; `ended` tells whether the stream is over.
    std::vector<Seen> events(kube::WatchStream& stream, bool* ended = nullptr) {
        auto seen = std::make_shared<std::vector<Seen>>();
        auto over = std::make_shared<bool>(false);
        asio::cancellation_signal cancel;
        asio::co_spawn(context, read_all(stream, seen, over),
                       asio::bind_cancellation_slot(cancel.slot(), asio::detached));
        settle();
        cancel.emit(asio::cancellation_type::terminal);
        settle();
        if (ended != nullptr) *ended = *over;
        return std::move(*seen);
    }
    /// "ADDED a, DELETED b, EOF".
    std::string drain(kube::WatchStream& stream) {
        bool ended = false;
        std::string text;
        for (const Seen& event : events(stream, &ended)) {
            if (!text.empty()) text += ", ";
            text += kube::event_type_name(event.type);
            const std::string_view name = name_of(event.object->get_object());
            if (!name.empty()) text += " " + std::string(name);
        }
        if (ended) text += text.empty() ? "EOF" : ", EOF";
        return text;
    }
    static std::string text(const kube::Response& response) {
        return response.body == nullptr ? "no body" : json::serialize(*response.body);
    }
    /// A copy that may be changed and compared. The answer itself is shared, also with the store.
    static json::value body_of(const kube::Response& response) {
        return kube::copy_of(*response.body);
    }
    /// The value at a dotted path; null if absent.
    static json::value at(const kube::Response& response, std::string_view path) {
        if (response.body == nullptr || !response.body->is_object()) return nullptr;
        const json::value* value = value_at_path(response.body->get_object(), path);
        return value == nullptr ? json::value(nullptr) : kube::copy_of(*value);
    }
    static std::string string_at_path(const kube::Response& response, std::string_view path) {
        const json::value value = at(response, path);
        return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    }
    static std::string message(const kube::Response& response) {
        return string_at_path(response, "message");
    }
    static std::string revision(const kube::Response& response) {
        return string_at_path(response, "metadata.resourceVersion");
    }

    static std::string pod(std::string_view name, std::string_view more_metadata = "",
                           std::string_view more_spec = "") {
        return fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"{}}},)"
                           R"("spec":{{"containers":[{{"name":"main","image":"busybox:1"}}]{}}}}})",
                           name, more_metadata, more_spec);
    }
    static std::string config_map(std::string_view name, std::string_view value = "1") {
        return fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"v":"{}"}}}})", name, value);
    }

    Rng rng_{7};
    ApiServerOptions options_;
    std::unique_ptr<ApiServer> server_;

  private:
    static Task<void> read_all(kube::WatchStream& stream, std::shared_ptr<std::vector<Seen>> seen,
                               std::shared_ptr<bool> over) {
        while (true) {
            Result<std::optional<kube::WatchEvent>> event = co_await stream.next();
            if (!event || !*event) {
                *over = true;
                co_return;
            }
            seen->push_back({(**event).type, (**event).object});
        }
    }
};

}  // namespace muster::apiserver
