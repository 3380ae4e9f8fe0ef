#include "ask_master/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <utility>

#include "base/visible_text.h"
#include "kube/values/read_json.h"

namespace muster::ask_master {
namespace {

namespace json = boost::json;
using namespace job_protocol;

constexpr double kUsualSeconds = 300;
constexpr double kMostSeconds = 1e8;
constexpr std::size_t kMostKeys = 10'000;

Error bad(std::string_view what) {
    return {Code::kBadRequest, fmt::format("a question that can't be read: {}", what)};
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += kDigits[value >> 4U];
        text += kDigits[value & 15U];
    }
    return text;
}

int digit_of(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

Result<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return bad("hexadecimal digits come in pairs");
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const int high = digit_of(text[at]);
        const int low = digit_of(text[at + 1]);
        if (high < 0 || low < 0) return bad("a value must be in hexadecimal digits");
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

Result<std::string> text_of(const json::object& line, std::string_view name) {
    const json::value* const found = line.if_contains(name);
    if (found == nullptr || !found->is_string()) return bad(fmt::format("it lacks \"{}\"", name));
    return std::string(found->get_string());
}

Result<std::optional<std::int64_t>> number_of(const json::object& line, std::string_view name) {
    const json::value* const found = line.if_contains(name);
    if (found == nullptr || found->is_null()) return std::optional<std::int64_t>();
    boost::system::error_code error;
    const auto number = found->to_number<std::int64_t>(error);
    if (error) return bad(fmt::format("\"{}\" is no whole number", name));
    return std::optional(number);
}

Result<Duration> time_of(const json::object& line) {
    double seconds = kUsualSeconds;
    if (const json::value* const found = line.if_contains("seconds")) {
        boost::system::error_code error;
        seconds = found->to_number<double>(error);
        if (error || !(seconds >= 0)) return bad("\"seconds\" is no time");
    }
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(std::min(seconds, kMostSeconds)));
}

Result<VersionRequest> version_request(const json::object& line) {
    constexpr std::array kKinds{std::pair("global", VersionKind::kGlobal),
                                std::pair("local", VersionKind::kLocal),
                                std::pair("restored", VersionKind::kRestored)};
    TRY(const std::string kind, text_of(line, "kind"));
    const auto* const found = std::ranges::find(
        kKinds, kind, [](const auto& one) { return std::string_view(one.first); });
    if (found == kKinds.end()) return bad("a version is \"global\", \"local\" or \"restored\"");
    VersionRequest request{.kind = found->second};
    TRY(request.set, number_of(line, "set"));
    if (request.kind == VersionKind::kGlobal) return request;
    TRY(request.type, text_of(line, "type"));
    TRY(const std::optional<std::int64_t> rank, number_of(line, "rank"));
    if (!rank || !std::in_range<std::int32_t>(*rank)) return bad("it lacks \"rank\"");
    request.rank = static_cast<std::int32_t>(*rank);
    return request;
}

Result<Question::Key> set_key(const json::object& line) {
    SetKey what;
    TRY(what.key, text_of(line, "key"));
    TRY(const std::string digits, text_of(line, "value"));
    TRY(what.value, from_hex(digits));
    return what;
}
Result<Question::Key> add_to_key(const json::object& line) {
    AddToKey what;
    TRY(what.key, text_of(line, "key"));
    TRY(const std::optional<std::int64_t> amount, number_of(line, "amount"));
    if (!amount) return bad("it lacks \"amount\"");
    what.amount = *amount;
    return what;
}
Result<Question::Key> await_keys(const json::object& line) {
    AwaitKeys what;
    const json::value* const found = line.if_contains("keys");
    if (found == nullptr || !found->is_array() || found->get_array().size() > kMostKeys)
        return bad("\"keys\" must be a list");
    for (const json::value& key : found->get_array()) {
        if (!key.is_string()) return bad("a key must be a text");
        what.keys.emplace_back(key.get_string());
    }
    return what;
}
template <class What, std::string What::* member>
Result<Question::Key> named(const json::object& line, std::string_view name) {
    What what;
    TRY(what.*member, text_of(line, name));
    return what;
}

Result<Question::Key> key_request(std::string_view ask, const json::object& line) {
    if (ask == "set") return set_key(line);
    if (ask == "get") return named<GetKey, &GetKey::key>(line, "key");
    if (ask == "add") return add_to_key(line);
    if (ask == "delete") return named<DeleteKey, &DeleteKey::key>(line, "key");
    if (ask == "wait") return await_keys(line);
    if (ask == "barrier") return named<EnterBarrier, &EnterBarrier::name>(line, "name");
    if (ask == "join") return named<JoinSyncPoint, &JoinSyncPoint::name>(line, "name");
    if (ask == "joined") return named<AwaitSyncPoint, &AwaitSyncPoint::name>(line, "name");
    return bad("it asks for nothing that this version knows");
}

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

std::string_view code_of(const Error& error) {
    switch (error.code()) {
        case Code::kTimeout:
            return "timeout";
        case Code::kGone:
            return "gone";
        default:
            return "error";
    }
}

std::string error_line(std::int64_t id, const Error& error) {
    return line_of(
        {{"id", id}, {"error", visible_text(error.message())}, {"code", code_of(error)}});
}

}  // namespace

bool is_meeting(const Question::Key& key) {
    return std::holds_alternative<EnterBarrier>(key) ||
           std::holds_alternative<JoinSyncPoint>(key) ||
           std::holds_alternative<AwaitSyncPoint>(key);
}

Result<Question> read_question(std::string_view line) {
    const std::optional<json::value> value = kube::read_json(line);
    if (!value || !value->is_object()) return bad("it is no JSON object");
    const json::object& object = value->get_object();
    TRY(const std::optional<std::int64_t> id, number_of(object, "id"));
    if (!id) return bad("it lacks \"id\"");
    Question question{.id = *id, .what = {}};
    TRY(question.time, time_of(object));
    TRY(const std::string ask, text_of(object, "ask"));
    if (ask == "version") {
        TRY(question.what, version_request(object));
    } else {
        TRY(question.what, key_request(ask, object));
    }
    return question;
}

std::string answer_line(const Question& question, const Result<KvAnswer>& answer) {
    if (!answer) return error_line(question.id, answer.error());
    json::object line{{"id", question.id}};
    const auto& what = std::get<Question::Key>(question.what);
    if (std::holds_alternative<GetKey>(what))
        line["value"] = answer->value ? json::value(to_hex(*answer->value)) : json::value(nullptr);
    if (std::holds_alternative<AddToKey>(what)) line["number"] = answer->number;
    if (std::holds_alternative<DeleteKey>(what) || std::holds_alternative<JoinSyncPoint>(what))
        line["yes"] = answer->yes;
    return line_of(line);
}

std::string answer_line(const Question& question, const Result<VersionAnswer>& answer) {
    if (!answer) return error_line(question.id, answer.error());
    return line_of({{"id", question.id}, {"number", answer->version}});
}

std::string refusal_line(std::string_view question, const Error& why) {
    const auto value = kube::read_json(question);
    if (value && value->is_object())
        if (const auto id = number_of(value->get_object(), "id"); id && *id)
            return error_line(**id, why);
    return trouble_line(why.message());
}

std::string cluster_line(const PsCluster& cluster) {
    json::array servers;
    for (const std::string& address : cluster.servers) servers.emplace_back(visible_text(address));
    return line_of({{"cluster",
                     {{"version", cluster.version},
                      {"servers", std::move(servers)},
                      {"complete", cluster.complete}}}});
}

std::string trouble_line(std::string_view text) {
    return line_of({{"trouble", visible_text(text)}});
}

}  // namespace muster::ask_master
