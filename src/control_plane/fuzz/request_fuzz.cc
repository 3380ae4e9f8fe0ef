// Bytes become up to eight whole requests for one embedded API: method, path, query, header fields
// and a body in JSON, YAML or protobuf, each chosen from what clients send or made of the bytes
// themselves. Nothing that is sent may be an internal fault, each answer is well-formed in the form
// that it names, and afterwards everything that is stored can be read.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/api_server.h"
#include "apiserver_http/http_front.h"
#include "base/check.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "base/unexpected.h"
#include "control_plane/fuzz/request_parts.h"
#include "control_plane/internal/yaml_bodies.h"
#include "kube/values/json.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"
#include "net/memory_stream.h"
#include "store/store.h"

using namespace muster;
using namespace muster::control_plane::fuzzed;

namespace {

constexpr std::string_view kToken = "secret";
constexpr int kRequests = 8;
constexpr int kDepth = 6;
/// Documents about all kinds are larger, and take long to read.
constexpr std::size_t kLargestYaml = std::size_t{256} * 1024;

/// Takes choices from the input; from its end on, always the first one.
class Source {
  public:
    explicit Source(std::string_view bytes) : bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    std::uint8_t byte() {
        if (bytes_.empty()) return 0;
        const auto taken = static_cast<std::uint8_t>(bytes_.front());
        bytes_.remove_prefix(1);
        return taken;
    }
    std::size_t below(std::size_t count) { return byte() % count; }
    template <std::size_t kSize>
    std::string_view one_of(const std::array<std::string_view, kSize>& choices) {
        return choices[below(kSize)];
    }
    /// Any bytes.
    std::string text() {
        const std::size_t size = std::min<std::size_t>(byte() % 64, bytes_.size());
        const std::string taken(bytes_.substr(0, size));
        bytes_.remove_prefix(size);
        return taken;
    }
    /// What can stand in one line of a head.
    std::string line() {
        std::string taken = text();
        for (char& c : taken)
            if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') c = '_';
        return taken;
    }

  private:
    std::string_view bytes_;
};

json::value any_value(Source& from, int depth) {
    switch (from.below(depth > 0 ? 8 : 6)) {
        case 0:
            return nullptr;
        case 1:
            return from.byte() % 2 == 0;
        case 2:
            return static_cast<std::int64_t>(from.byte()) - 128;
        case 3:
            return std::int64_t{1} << (from.byte() % 63);
        case 4:
            return from.byte() * 1e300;
        case 5:
            return json::string(from.text());
        case 6: {
            json::array list;
            for (std::size_t i = from.below(4); i > 0; --i)
                list.push_back(any_value(from, depth - 1));
            return list;
        }
        default: {
            json::object map;
            for (std::size_t i = from.below(4); i > 0; --i) {
                const std::string key = from.text();
                map[key] = any_value(from, depth - 1);
            }
            return map;
        }
    }
}

/// Changes one place: another value, none, or one more.
void change(json::value& root, Source& from) {
    json::value* at = &root;
    for (std::size_t steps = from.below(kDepth) + 1; steps > 0; --steps) {
        if (json::object* map = at->if_object(); map != nullptr && !map->empty()) {
            const auto field = map->begin() + static_cast<std::ptrdiff_t>(from.below(map->size()));
            if (steps == 1 && from.byte() % 3 == 0) {
                map->erase(field);
                return;
            }
            at = &field->value();
        } else if (json::array* list = at->if_array(); list != nullptr && !list->empty()) {
            at = &(*list)[from.below(list->size())];
        } else {
            break;
        }
    }
    if (json::object* map = at->if_object(); map != nullptr && from.byte() % 2 == 0) {
        const std::string key = from.text();
        (*map)[key] = any_value(from, kDepth);
    } else {
        *at = any_value(from, kDepth);
    }
}

/// A list in a list, and so on: deeper than anybody's parser may go.
std::string nested(std::size_t depth) {
    return R"({"metadata":{"name":"a"},"x":)" + std::string(depth, '[') + std::string(depth, ']') +
           "}";
}

void add_varint(std::string& out, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7f) | 0x80);
    out += static_cast<char>(number);
}

void add_bytes(std::string& out, std::uint64_t field, std::string_view bytes) {
    add_varint(out, field << 3 | 2);
    add_varint(out, bytes.size());
    out += bytes;
}

std::string any_message(Source& from, int depth) {
    std::string message;
    for (std::size_t i = from.below(5); i > 0; --i) {
        const std::uint64_t field = from.byte() % 24 + 1;
        switch (from.below(depth > 0 ? 4 : 3)) {
            case 0:
                add_varint(message, field << 3);
                add_varint(message, std::uint64_t{1} << (from.byte() % 64));
                break;
            case 1:
                add_varint(message, field << 3 | from.byte() % 8);
                message += from.text();
                break;
            case 2:
                add_bytes(message, field, from.text());
                break;
            default:
                add_bytes(message, field, any_message(from, depth - 1));
        }
    }
    return message;
}

/// The envelope of Go's clients around a message of one of the kinds.
std::string protobuf_body(Source& from) {
    constexpr auto kKinds = std::to_array<std::pair<std::string_view, std::string_view>>(
        {{"v1", "ConfigMap"},
         {"v1", "Pod"},
         {"v1", "Secret"},
         {"apps/v1", "Deployment"},
         {"coordination.k8s.io/v1", "Lease"},
         {"meta.k8s.io/v1", "DeleteOptions"},
         {"authorization.k8s.io/v1", "SubjectAccessReview"},
         {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
         {"", ""}});
    const auto& [version, kind] = kKinds[from.below(kKinds.size())];
    std::string type;
    add_bytes(type, 1, version);
    add_bytes(type, 2, kind);
    std::string metadata;
    add_bytes(metadata, 1, "a");
    std::string message;
    if (from.byte() % 2 == 0) add_bytes(message, 1, metadata);
    message += any_message(from, kDepth);
    std::string envelope;
    add_bytes(envelope, 1, type);
    add_bytes(envelope, 2, message);
    return std::string("k8s\0", 4) + envelope;
}

std::string body(Source& from) {
    switch (from.below(8)) {
        case 0:
            return {};
        case 1:
            return from.text();
        case 2:
            return protobuf_body(from);
        case 3:
            return std::string(from.one_of(kYaml));
        case 4:
            return nested(std::size_t{from.byte()} * 8);
        default: {
            json::value object = json::parse(from.one_of(kObjects));
            for (std::size_t i = from.below(4); i > 0; --i) change(object, from);
            return json::serialize(object);
        }
    }
}

std::string target(Source& from) {
    std::string path;
    switch (from.below(8)) {
        case 0:
            path = from.one_of(kDocuments);
            break;
        case 1:
            path = "/" + from.line();
            break;
        default:
            path = from.one_of(kCollections);
            if (from.byte() % 2 == 0) break;
            path += fmt::format("/{}{}", from.one_of(kNames), from.one_of(kSubresources));
    }
    char separator = path.find('?') == path.npos ? '?' : '&';
    for (std::size_t i = from.below(4); i > 0; --i) {
        const std::string_view query = from.one_of(kQueries);
        path += fmt::format("{}{}", separator, query);
        if (query.ends_with('='))
            path += from.byte() % 4 == 0 ? from.line() : std::string(from.one_of(kValues));
        separator = '&';
    }
    return path;
}

net::HttpRequest request(Source& from) {
    net::HttpRequest made;
    made.method = from.one_of(kMethods);
    made.target = target(from);
    made.headers.add("Accept", from.byte() % 16 == 15 ? from.line() : from.one_of(kAccepts));
    switch (from.below(8)) {
        case 0:
            break;
        case 1:
            made.headers.add("Authorization", "Bearer " + from.line());
            break;
        case 2:
            made.headers.add("Authorization", fmt::format("Bearer {}", kToken));
            made.headers.add("Impersonate-User", from.line());
            break;
        default:
            made.headers.add("Authorization", fmt::format("Bearer {}", kToken));
    }
    if (from.byte() % 8 == 0) made.headers.add("User-Agent", from.line());
    if (from.byte() % 16 == 15) made.headers.add("Content-Encoding", "gzip");
    const std::string_view type = from.one_of(kContentTypes);
    if (!type.empty()) made.headers.add("Content-Type", type);
    if (made.method != "GET" && made.method != "HEAD") made.body = body(from);
    return made;
}

/// One API behind HTTP in memory.
class World final : public SimulatedLoop {
  public:
    World() {
        auto owned = std::make_unique<net::MemoryListener>(context.get_executor());
        listener_ = owned.get();
        CHECK(await(server_.start()), "an empty store can be served");
        http_.serve(std::move(owned));
    }
    ~World() override {
        await(client_.stop());
        await(http_.stop());
        await(server_.stop());
    }

    Result<net::HttpResponse> send(net::HttpRequest made) {
        return await(client_.call(std::move(made), std::chrono::seconds(10)));
    }

  private:
    Task<Result<std::unique_ptr<net::ByteStream>>> connect() { co_return listener_->connect(); }

    Rng rng_{7};
    apiserver::ApiServer server_{
        context.get_executor(), clock, rng_, store::make_memory_store(), {.manage_fields = true}};
    apiserver_http::HttpFront front_{
        server_, {.admin_token = std::string(kToken)}, {.yaml = control_plane::yaml_bodies()}};
    net::MemoryListener* listener_ = nullptr;
    net::HttpServer http_{context.get_executor(), clock, {}, [this](net::HttpExchange& exchange) {
                              return front_.serve(exchange);
                          }};
    net::HttpClient client_{context.get_executor(), clock, [this] { return connect(); }};
};

void check_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = 100'000;
    boost::system::error_code problem;
    (void)json::parse(text, problem, {}, options);
    CHECK(!problem, "an answer in JSON is JSON, and UTF-8");
}

/// What kube-apiserver, too, answers with 500 though the client is to blame.
constexpr std::string_view kAnsweredAsUpstream[] = {
    "must be a decimal number",
    "is not a decimal number",
    "resourceVersion should not be set on objects to be created",
    "failed to create typed patch object",
    "This pod has more than one PodDisruptionBudget",
};

bool is_as_upstream(const net::HttpResponse& answer) {
    return std::ranges::any_of(kAnsweredAsUpstream, [&](std::string_view text) {
        return answer.body.find(text) != answer.body.npos;
    });
}

void check_answer(const net::HttpResponse& answer, bool may_be_lines) {
    CHECK(answer.status >= 200 && answer.status < 600, "an answer has a status");
    CHECK(answer.status != 500 || is_as_upstream(answer),
          "nothing that a client sends is a fault of the server");
    const std::string_view type = answer.headers.find("Content-Type").value_or("");
    if (answer.body.empty()) return;
    if (type.starts_with("application/json")) {
        std::string_view left = answer.body;
        while (may_be_lines && left.find('\n') < left.size() - 1) {
            check_json(left.substr(0, left.find('\n')));
            left.remove_prefix(left.find('\n') + 1);
        }
        check_json(left);
    } else if (type.starts_with("application/yaml") && !may_be_lines &&
               answer.body.size() < kLargestYaml) {
        const auto read = control_plane::yaml_bodies().read(answer.body);
        CHECK(read, "an answer in YAML can be read");
    }
}

/// Each collection, as the admin's clients list it.
void check_what_is_stored(World& world) {
    for (const std::string_view collection : kCollections) {
        net::HttpRequest list;
        list.method = "GET";
        list.target = collection;
        list.headers.add("Authorization", fmt::format("Bearer {}", kToken));
        list.headers.add("Accept", "application/json");
        const auto answer = world.send(std::move(list));
        CHECK(answer, "the server still answers");
        check_answer(*answer, false);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    log::set_level(log::Level::kOff);
    const UnexpectedEndsProcess ends;
    Source from(std::string_view(reinterpret_cast<const char*>(data), size));
    World world;
    for (int i = 0; i < kRequests && !from.empty(); ++i) {
        net::HttpRequest made = request(from);
        const bool may_be_lines = made.target.find("watch") != made.target.npos;
        const bool head = made.method == "HEAD";
        const auto answer = world.send(std::move(made));
        // A stream may last longer than its client waits, and not everything can be sent.
        if (answer && !head) check_answer(*answer, may_be_lines);
    }
    check_what_is_stored(world);
    return 0;
}
