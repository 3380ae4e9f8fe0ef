#include "apiserver/internal/conversions/conversion_review.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace muster::apiserver::conversion_review_test {
namespace {

store::ObjectTextPtr object(std::string_view text) { return store::ObjectText::read(text); }

const char* const kStored =
    R"({"apiVersion":"g/v2","kind":"K","metadata":{"name":"a","namespace":"n","uid":"u",)"
    R"("resourceVersion":"7","labels":{"l":"1"}},"spec":{"new":"x"}})";

ConversionQuestion question(std::string review_version = "v1") {
    return {.uid = "q",
            .review_version = std::move(review_version),
            .desired_api_version = "g/v1",
            .objects = {object(kStored)}};
}

std::string answer(std::string_view response, std::string_view version = "v1") {
    return fmt::format(
        R"({{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/{}","response":{}}})",
        version, response);
}

std::string converted(std::string_view objects) {
    return answer(fmt::format(
        R"({{"uid":"q","result":{{"status":"Success"}},"convertedObjects":[{}]}})", objects));
}

TEST(ConversionReview, AsksForTheObjectsAsTheyAreStored) {
    const json::value asked = json::parse(conversion_text(question()));
    EXPECT_EQ(asked.at("apiVersion"), json::value("apiextensions.k8s.io/v1"));
    EXPECT_EQ(asked.at("request").at("uid"), json::value("q"));
    EXPECT_EQ(asked.at("request").at("desiredAPIVersion"), json::value("g/v1"));
    EXPECT_EQ(asked.at("request").at("objects"), (json::array{json::parse(kStored)}));
}

TEST(ConversionReview, KeepsTheMetadataButForLabelsAndAnnotations) {
    const auto made = read_conversion(
        converted(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","namespace":"n",
            "uid":"u","resourceVersion":"1","finalizers":["x/y"],"labels":{"m":"2"},
            "annotations":{"c":"d"}},"spec":{"old":"x"}})"),
        question());
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(json::parse(made->at(0)->text()),
              json::parse(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a",
                  "namespace":"n","uid":"u","resourceVersion":"7","labels":{"m":"2"},
                  "annotations":{"c":"d"}},"spec":{"old":"x"}})"));
}

TEST(ConversionReview, WhatIsNoAnswerSaysWhy) {
    const std::string same = R"("metadata":{"name":"a","namespace":"n","uid":"u")";
    const std::vector<std::pair<std::string, const char*>> cases = {
        {"", "failed: couldn't get version/kind"},
        {"null", "failed: couldn't get version/kind"},
        {"nonsense", "failed: "},
        {"[]", "failed: couldn't get version/kind"},
        {"{}", "failed: expected webhook response of apiextensions.k8s.io/v1"},
        {answer("null"), "failed: no response provided"},
        {answer("{}", "v1beta1"), "failed: expected webhook response of"},
        {answer(R"({"uid":"x"})"), "failed: expected response.uid=\"q\", got \"x\""},
        {answer(R"({"uid":"q"})"), "failed: response.result.status was '', not 'Success'"},
        {answer(R"({"uid":"q","result":{"status":"Failure","message":"no"}})"), "failed: no"},
        {converted(""), "returned 0 objects, expected 1"},
        {converted("1"), "returned invalid object at index 0: invalid groupVersion"},
        {converted(R"({"apiVersion":"g/v1","kind":"L"})"),
         "returned invalid object at index 0: invalid kind (expected K, received L)"},
        {converted(R"({"apiVersion":"g/v1","kind":"K","metadata":1})"),
         "returned invalid object: must have the same name: a != "},
        {converted(fmt::format(R"({{"apiVersion":"g/v1","kind":"K",{},"labels":[]}}}})", same)),
         "returned invalid metadata: invalid metadata.labels"},
        {converted(
             fmt::format(R"({{"apiVersion":"g/v1","kind":"K",{},"labels":{{"a":1}}}}}})", same)),
         "returned invalid metadata: metadata.labels[a] must be a string"},
        {converted(fmt::format(R"({{"apiVersion":"g/v1","kind":"K",{},"labels":{{"a":"b c"}}}}}})",
                               same)),
         "returned invalid metadata: metadata.labels: Invalid value: \"b c\""},
    };
    for (const auto& [text, why] : cases) {
        const auto made = read_conversion(text, question());
        ASSERT_FALSE(made) << text;
        EXPECT_TRUE(made.error().starts_with(why)) << text << ": " << made.error();
    }
}

TEST(ConversionReview, InV1beta1TheUidDoesNotCount) {
    const auto made = read_conversion(
        answer(R"({"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"g/v1",
                   "kind":"K","metadata":{"name":"a","namespace":"n","uid":"u"}}]})",
               "v1beta1"),
        question("v1beta1"));
    EXPECT_TRUE(made) << made.error();
}

TEST(ConversionReview, TheFirstKnownReviewVersionIsUsed) {
    const auto read = [](std::string_view versions) {
        return read_webhook_conversion(
            json::parse(fmt::format(R"({{"strategy":"Webhook","webhook":{{"clientConfig":
                {{"url":"https://h/c"}},"conversionReviewVersions":{}}}}})",
                                    versions))
                .get_object());
    };
    EXPECT_EQ(read(R"(["v2","v1beta1","v1"])")->review_version, "v1beta1");
    EXPECT_EQ(read(R"(["v1"])")->endpoint.path, "/c");
    EXPECT_EQ(read_webhook_conversion(json::parse(R"({"strategy":"None"})").get_object()), nullptr);
}

}  // namespace
}  // namespace muster::apiserver::conversion_review_test
