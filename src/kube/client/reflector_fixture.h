#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_loop.h"
#include "kube/client/reflector.h"
#include "kube/transport/fake_transport.h"

namespace muster::kube {

inline constexpr const char* kPods = "/api/v1/namespaces/ns/pods";

inline json::value pod(std::string_view name, std::string_view revision) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"namespace", "ns"}, {"name", name}, {"resourceVersion", revision}}}};
}
inline json::value bookmark(std::string_view revision) {
    return {{"kind", "Pod"}, {"metadata", {{"resourceVersion", revision}}}};
}
inline Response page(std::string_view revision, json::array items, std::string_view more = {}) {
    json::object metadata{{"resourceVersion", revision}};
    if (!more.empty()) metadata.emplace("continue", more);
    return json_response({{"metadata", std::move(metadata)}, {"items", std::move(items)}});
}
inline Query list_query(std::string_view revision) {
    if (revision.empty()) return {{"limit", "500"}};
    return {{"resourceVersion", std::string(revision)}};
}
inline Query watch_query(std::string_view revision) {
    return {{"watch", "true"},
            {"allowWatchBookmarks", "true"},
            {"resourceVersion", std::string(revision)},
            {"timeoutSeconds", "*"}};
}
inline Query streamed_query(std::string_view revision) {
    Query query{{"watch", "true"},
                {"allowWatchBookmarks", "true"},
                {"sendInitialEvents", "true"},
                {"resourceVersionMatch", "NotOlderThan"},
                {"timeoutSeconds", "*"}};
    if (!revision.empty()) query.emplace_back("resourceVersion", std::string(revision));
    return query;
}
inline json::value end_of_list(std::string_view revision) {
    json::value made = bookmark(revision);
    made.at("metadata").as_object()["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    return made;
}
inline Error expired() { return Error(Code::kGone, "too old resource version: 5 (9)"); }
inline Error too_large() {
    Error error(Code::kTimeout, "Too large resource version: 99, current: 7");
    error.with_causes({{"ResourceVersionTooLarge", "Too large resource version", ""}});
    return error;
}

class ReflectorTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    ReflectorTest() { make({}); }
    void make(std::vector<std::string> listed_fields,
              Reflector::Lists lists = Reflector::Lists::kPaged) {
        ListOptions options;
        options.namespace_ = "ns";
        reflector = std::make_unique<Reflector>(
            client, clock, rng, types::kPods, options,
            Reflector::Sink{
                .begin_list = [this] { list = "list"; },
                .listed = [this](const std::string& key, ObjectPtr) { list += " " + key; },
                .end_list = [this] { seen.push_back(std::exchange(list, "none")); },
                .upsert = [this](const std::string& key,
                                 ObjectPtr) { seen.push_back("upsert " + key); },
                .erase = [this](const std::string& key) { seen.push_back("erase " + key); }},
            std::move(listed_fields), lists);
    }
    ~ReflectorTest() override {
        stop();
        EXPECT_TRUE(transport.finished());
    }

    void expect_list(std::string_view revision, Result<Response> answer) {
        transport.expect(Method::kGet, kPods, list_query(revision), std::move(answer));
    }
    std::shared_ptr<FakeWatch> expect_watch(std::string_view revision) {
        return transport.expect_watch(kPods, watch_query(revision));
    }
    std::shared_ptr<FakeWatch> expect_streamed_list(std::string_view revision) {
        return transport.expect_watch(kPods, streamed_query(revision));
    }
    void start() {
        reflector->start(tasks);
        settle();
    }
    /// The waits after each of `times` lists that fail; then it watches.
    std::vector<Duration> waits_of(int times, const Result<Response>& answer) {
        for (int i = 0; i < times; ++i) expect_list("", answer);
        expect_list("", page("5", {}));
        watch = expect_watch("5");
        std::vector<Duration> waits;
        start();
        while (!transport.finished()) {
            const std::size_t before = transport.requests().size();
            const Instant since = clock.now();
            run_until([&] { return transport.requests().size() != before; });
            waits.push_back(clock.now() - since);
        }
        settle();
        return waits;
    }
    std::vector<std::string> take_seen() { return std::exchange(seen, {}); }
    void stop() {
        const Instant before = clock.now();
        await(tasks.stop());
        EXPECT_EQ(clock.now(), before) << "stopping waits for no timer";
    }

    Rng rng{1};
    TaskGroup tasks{context.get_executor()};
    FakeTransport transport{context.get_executor()};
    Client client{transport};
    std::vector<std::string> seen;
    std::string list = "none";  ///< its progress
    std::unique_ptr<Reflector> reflector;
    std::shared_ptr<FakeWatch> watch;  ///< with which waits_of() ended
};

}  // namespace muster::kube
