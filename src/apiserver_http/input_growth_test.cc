#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "apiserver_http/internal/printing/table.h"
#include "apiserver_http/internal/protobuf/decode.h"
#include "apiserver_http/internal/protobuf/wire_writer.h"
#include "apiserver_http/internal/streams/channel_messages.h"
#include "apiserver_http/internal/wire/impersonation.h"
#include "apiserver_http/internal/wire/media_type.h"
#include "apiserver_http/internal/wire/url.h"
#include "apiserver_http/spdy/spdy_frames.h"
#include "base/test_growth.h"
#include "store/object_text.h"

// What a client sends besides JSON is work in proportion to its size, and so is a row of a table.

namespace muster::apiserver_http::input_growth_test {
namespace {

using W = WireWriter;

// ---- the head ----

std::string many_segments(std::size_t size) {
    return repeated(size, [](std::size_t) { return std::string("/%61"); });
}
std::string many_parameters(std::size_t size) {
    return "/api?" + repeated(size, [](std::size_t i) { return fmt::format("k{}=%61+&", i); });
}
std::string slashes(std::size_t size) { return std::string(size, '/') + "watch/watch/"; }
void url(std::string_view target) {
    auto parsed = parse_url(target);
    ASSERT_TRUE(parsed);
    take_watch_prefix(parsed->path);
}

std::string many_types(std::size_t size) {
    return repeated(size, [](std::size_t i) { return fmt::format("a/b{};q=0.5,", i); });
}
std::string many_of_a_type(std::size_t size) {
    return "application/json" +
           repeated(size, [](std::size_t i) { return fmt::format(";p{}=v", i); });
}
void media_types(std::string_view accept) {
    (void)choose_form(accept);
    (void)body_type(accept, kube::Method::kPost);
}

std::string many_groups(std::size_t size) {
    return repeated(size, [](std::size_t i) { return fmt::format("Impersonate-Group:g{}\n", i); });
}
std::string many_extras(std::size_t size) {
    return repeated(size,
                    [](std::size_t i) { return fmt::format("Impersonate-Extra-k{}:v\n", i); });
}
void impersonation(std::string_view lines) {
    net::HttpHeaders headers{{"Impersonate-User", "bob"}};
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        headers.add(line.substr(0, line.find(':')), line.substr(line.find(':') + 1));
        lines.remove_prefix(line.size() + 1);
    }
    ASSERT_TRUE(read_impersonation(headers));
}

// ---- protobuf ----

W meta(const W& fields) { return W().message(1, fields); }

std::string many_data(std::size_t size) {
    W map = meta(W().bytes(1, "m"));
    for (std::size_t i = 0; i < size; ++i)
        map.message(2, W().bytes(1, fmt::format("k{}", i)).bytes(2, "v"));
    return protobuf_body("v1", "ConfigMap", map);
}
std::string one_key_many_times(std::size_t size) {
    W map = meta(W().bytes(1, "m"));
    for (std::size_t i = 0; i < size; ++i) map.message(2, W().bytes(1, "k").bytes(2, "v"));
    return protobuf_body("v1", "ConfigMap", map);
}
std::string many_metas(std::size_t size) {
    W map;
    for (std::size_t i = 0; i < size; ++i)
        map.message(1, W().message(11, W().bytes(1, fmt::format("k{}", i)).bytes(2, "v")));
    return protobuf_body("v1", "ConfigMap", map);
}
std::string many_containers(std::size_t size) {
    W spec;
    for (std::size_t i = 0; i < size; ++i)
        spec.message(2, W().bytes(1, fmt::format("c{}", i)).message(7, W().bytes(1, "A")));
    return protobuf_body("v1", "Pod", W().message(2, spec));
}
std::string unknown_fields(std::size_t size) {
    W map = meta(W().bytes(1, "m"));
    for (std::size_t i = 0; i < size; ++i) map.varint(1'000, 1);
    return protobuf_body("v1", "ConfigMap", map);
}
void protobuf(std::string_view body) {
    const Result<json::object> object = decode_protobuf(body);
    ASSERT_TRUE(object) << object.error().message();
}

// ---- streams ----

std::string many_frames(std::size_t size) {
    return repeated(size, [](std::size_t i) {
        return SpdyEncoder::data(static_cast<std::uint32_t>(i), "x", false) + SpdyEncoder::ping(1);
    });
}
std::string one_frame(std::size_t size) {
    return SpdyEncoder::data(1, std::string(size, 'x'), true);
}
void spdy(std::string_view bytes) {
    constexpr std::size_t kPiece = 100;
    SpdyDecoder decoder;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        decoder.put(bytes.substr(at, kPiece));
        for (;;) {
            const auto frame = decoder.next();
            ASSERT_TRUE(frame) << frame.error();
            if (!*frame) break;
        }
    }
}
void spdy_at_once(std::string_view bytes) {
    SpdyDecoder decoder;
    decoder.put(bytes);
    for (;;) {
        const auto frame = decoder.next();
        ASSERT_TRUE(frame) << frame.error();
        if (!*frame) break;
    }
}

std::string resize(std::size_t size) {
    return "\4{\"Width\":1,\"Height\":" + std::string(size, ' ') + "1}";
}
void channel(std::string_view message) { (void)parse_client_message(message, true); }

// ---- tables ----

std::string object_of_many(std::size_t size) {
    return R"({"metadata":{"name":"x","creationTimestamp":"2026-01-02T02:00:00Z","labels":{)" +
           repeated(size, [](std::size_t i) { return fmt::format("\"l{}\":\"v\",", i); }) +
           R"("l":"v"}},"spec":{"list":[)" +
           repeated(size, [](std::size_t i) { return fmt::format("{{\"a\":{}}},", i); }) +
           R"({"a":-1}],"containers":[)" +
           repeated(size, [](std::size_t i) { return fmt::format("{{\"name\":\"c{}\"}},", i); }) +
           R"({"name":"c"}]},"status":{"containerStatuses":[)" +
           repeated(size,
                    [](std::size_t i) {
                        return fmt::format(
                            "{{\"name\":\"c{}\",\"restartCount\":1,\"ready\":true}},", i);
                    }) +
           R"({"name":"c"}]}})";
}
void row_of(apiserver::ResourceDef& def, std::string_view text) {
    const auto object = std::make_shared<const json::value>(json::parse(text));
    std::string row;
    append_table_row(row, def, store::ObjectText::of(object)->text(), *object, RowObject::kMetadata,
                     WallTime());
    append_partial_metadata(row, store::ObjectText::of(object)->text());
}
void custom_row(std::string_view text) {
    apiserver::ResourceDef def;
    for (const char* path : {".spec.list[*].a", ".spec.list[?(@.a==-1)].a", ".metadata.labels.*"})
        def.printer_columns.push_back({.name = path,
                                       .type = "string",
                                       .format = "",
                                       .description = "",
                                       .path = *kube::JsonPath::parse(path)});
    row_of(def, text);
}
void pod_row(std::string_view text) {
    apiserver::ResourceDef def;
    def.type.plural = "pods";
    def.type.version = "v1";
    row_of(def, text);
}

class InputGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(InputGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Heads, InputGrowth,
    ::testing::Values(GrowthCase{"many_segments", many_segments, url, 5'000},
                      GrowthCase{"many_parameters", many_parameters, url, 5'000},
                      GrowthCase{"slashes", slashes, url, 50'000},
                      GrowthCase{"many_types", many_types, media_types, 2'000},
                      GrowthCase{"many_of_a_type", many_of_a_type, media_types, 2'000},
                      GrowthCase{"many_groups", many_groups, impersonation, 1'000},
                      GrowthCase{"many_extras", many_extras, impersonation, 1'000}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Protobuf, InputGrowth,
    ::testing::Values(GrowthCase{"many_data", many_data, protobuf, 2'000},
                      GrowthCase{"one_key_many_times", one_key_many_times, protobuf, 2'000},
                      GrowthCase{"many_metas", many_metas, protobuf, 2'000},
                      GrowthCase{"many_containers", many_containers, protobuf, 1'000},
                      GrowthCase{"unknown_fields", unknown_fields, protobuf, 10'000}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Streams, InputGrowth,
                         ::testing::Values(GrowthCase{"many_frames", many_frames, spdy, 5'000},
                                           GrowthCase{"one_frame", one_frame, spdy, 200'000},
                                           GrowthCase{"frames_at_once", many_frames, spdy_at_once,
                                                      5'000},
                                           GrowthCase{"resize", resize, channel, 50'000}),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Tables, InputGrowth,
                         ::testing::Values(GrowthCase{"custom_row", object_of_many, custom_row,
                                                      1'000},
                                           GrowthCase{"pod_row", object_of_many, pod_row, 1'000}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::apiserver_http::input_growth_test
