#include "kube/objects/api_status.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <set>

namespace muster::kube::api_status_test {
namespace {

using namespace std::chrono_literals;

struct CodeRow {
    Code code;
    int http;
    const char* reason;
};

constexpr CodeRow kCodes[] = {
    {Code::kBadRequest, 400, "BadRequest"},
    {Code::kUnauthorized, 401, "Unauthorized"},
    {Code::kForbidden, 403, "Forbidden"},
    {Code::kNotFound, 404, "NotFound"},
    {Code::kMethodNotAllowed, 405, "MethodNotAllowed"},
    {Code::kUnsupported, 415, "UnsupportedMediaType"},
    {Code::kAlreadyExists, 409, "AlreadyExists"},
    {Code::kConflict, 409, "Conflict"},
    {Code::kGone, 410, "Expired"},
    {Code::kTooLarge, 413, "RequestEntityTooLarge"},
    {Code::kInvalid, 422, "Invalid"},
    {Code::kTooManyRequests, 429, "TooManyRequests"},
    {Code::kInternal, 500, "InternalError"},
    {Code::kUnavailable, 503, "ServiceUnavailable"},
    {Code::kTimeout, 504, "Timeout"},
};

TEST(ApiStatus, EveryCodeSurvivesTheWire) {
    for (const CodeRow& row : kCodes) {
        EXPECT_EQ(http_status(row.code), row.http) << row.reason;
        EXPECT_EQ(status_reason(row.code), row.reason);
        Error error = error_from_status(row.http, status_from_error(Error(row.code, "m")));
        EXPECT_EQ(error.code(), row.code) << row.reason;
        EXPECT_EQ(error.message(), "m");
    }
    EXPECT_EQ(http_status(Code::kCancelled), 504);
}

TEST(ApiStatus, TellsWhenNoOtherRequestWouldFareBetter) {
    const std::set<Code> away = {Code::kUnavailable, Code::kTimeout, Code::kTooManyRequests,
                                 Code::kUnauthorized, Code::kCancelled};
    for (const CodeRow& row : kCodes)
        EXPECT_EQ(is_away(Error(row.code, "m")), away.contains(row.code)) << row.reason;
    EXPECT_TRUE(is_away(Error(Code::kCancelled, "m")));
}

TEST(ApiStatus, HasTheFormOfTheApi) {
    Error error(Code::kInvalid, "Pod \"x\" is invalid: spec.containers: Required value");
    error.with_causes({{"FieldValueRequired", "Required value", "spec.containers"}});
    EXPECT_EQ(status_from_error(error, {.name = "x", .group = {}, .kind = "Pod", .uid = {}}),
              json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
                "message":"Pod \"x\" is invalid: spec.containers: Required value",
                "reason":"Invalid","code":422,"details":{"name":"x","kind":"Pod","causes":[
                {"reason":"FieldValueRequired","message":"Required value",
                 "field":"spec.containers"}]}})"));
    EXPECT_FALSE(status_from_error(Error(Code::kUnauthorized, "Unauthorized"))
                     .as_object()
                     .contains("details"));
}

TEST(ApiStatus, CausesDelayAndDetailsSurviveTheWire) {
    Error sent(Code::kTimeout, "Timeout: Too large resource version: 99, current: 7");
    sent.with_causes({{"ResourceVersionTooLarge", "Too large resource version", ""}});
    sent.with_retry_after(1ms);
    const json::value body = status_from_error(sent, {"n", "g", "k", "u"});
    EXPECT_EQ(body.at("details").at("retryAfterSeconds"), 1);

    Error received = error_from_status(504, body);
    EXPECT_EQ(received.causes(), sent.causes());
    EXPECT_EQ(received.retry_after(), 1s);
    EXPECT_EQ(body.at("details").at("name"), "n");
    EXPECT_EQ(body.at("details").at("group"), "g");
    EXPECT_EQ(body.at("details").at("kind"), "k");
    EXPECT_EQ(body.at("details").at("uid"), "u");

    EXPECT_EQ(status_from_error(Error(sent).with_retry_after(1001ms))
                  .at("details")
                  .at("retryAfterSeconds"),
              2);
}

struct ReadRow {
    const char* name;
    int http;
    const char* body;
    Code code;
};

TEST(ApiStatus, ReadsWhatServersSend) {
    constexpr ReadRow kRows[] = {
        {"Gone of old servers", 410, R"({"kind":"Status","reason":"Gone"})", Code::kGone},
        {"ERROR event of a watch", 0, R"({"kind":"Status","reason":"Expired","code":410})",
         Code::kGone},
        {"ERROR event without a reason", 0, R"({"kind":"Status","code":410})", Code::kGone},
        {"ServerTimeout", 504, R"({"kind":"Status","reason":"ServerTimeout"})", Code::kTimeout},
        {"ServerTimeout as 500", 500, R"({"kind":"Status","reason":"ServerTimeout"})",
         Code::kTimeout},
        {"NotAcceptable", 406, R"({"kind":"Status","reason":"NotAcceptable"})", Code::kUnsupported},
        {"the reason decides", 409, R"({"kind":"Status","reason":"AlreadyExists"})",
         Code::kAlreadyExists},
        {"409 without a reason", 409, R"({"kind":"Status"})", Code::kConflict},
        {"unknown reason", 403, R"({"kind":"Status","reason":"Odd"})", Code::kForbidden},
        {"empty reason of a 500", 500, R"({"kind":"Status","reason":""})", Code::kInternal},
        {"text", 404, R"("404 page not found\n")", Code::kNotFound},
        {"nothing", 503, "null", Code::kUnavailable},
        {"another object", 400, R"({"a":1})", Code::kBadRequest},
        {"a gateway", 502, "null", Code::kTimeout},
        {"teapot", 418, "null", Code::kBadRequest},
        {"strange 5xx", 599, "null", Code::kInternal},
        {"fields of wrong types", 404,
         R"({"kind":"Status","message":1,"reason":[],"details":{"causes":[1,{"field":2}],
            "retryAfterSeconds":"x"}})",
         Code::kNotFound},
    };
    for (const ReadRow& row : kRows) {
        Error error = error_from_status(row.http, json::parse(row.body));
        EXPECT_EQ(error.code(), row.code) << row.name;
        EXPECT_FALSE(error.message().empty()) << row.name;
    }
    EXPECT_EQ(error_from_status(404, "404 page not found\n").message(),
              "the server answered HTTP 404: 404 page not found");
    EXPECT_LT(error_from_status(400, json::string(100'000, 'x')).message().size(), 1000u);
}

TEST(ApiStatus, DelaysStayInRange) {
    auto delay = [](const char* seconds) {
        return error_from_status(429, json::parse(std::string(R"({"kind":"Status","details":{)") +
                                                  R"("retryAfterSeconds":)" + seconds + "}}"))
            .retry_after();
    };
    EXPECT_EQ(delay("3"), 3s);
    EXPECT_EQ(delay("0"), std::nullopt);
    EXPECT_EQ(delay("-9223372036854775808"), std::nullopt);
    EXPECT_EQ(delay("9223372036854775807"), 24h);
}

}  // namespace
}  // namespace muster::kube::api_status_test
