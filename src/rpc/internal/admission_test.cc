#include "rpc/internal/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rpc::admission_test {
namespace {

using testing::HasSubstr;

constexpr Version kOwn{.major = 3, .minor = 5};

TEST(Admission, MinorVersionsMayBeOneApart) {
    struct Case {
        Version one, other;
        bool talk;
    };
    for (const Case& c :
         {Case{{3, 5}, {3, 5}, true}, Case{{3, 5}, {3, 6}, true}, Case{{3, 5}, {3, 4}, true},
          Case{{3, 5}, {3, 7}, false}, Case{{3, 5}, {3, 3}, false}, Case{{3, 5}, {4, 5}, false},
          Case{{3, 0}, {2, 0}, false}, Case{{3, 0}, {3, UINT32_MAX}, false}}) {
        EXPECT_EQ(talk_together(c.one, c.other), c.talk) << c.other.major << "." << c.other.minor;
        EXPECT_EQ(talk_together(c.other, c.one), c.talk) << c.other.major << "." << c.other.minor;
    }
}

TEST(Admission, WhoHasTheTokenIsLetIn) {
    const auto in =
        admit(hello_frame({"secret", "uuid", "the agent of worker-3"}, {3, 6}), "secret", kOwn);
    ASSERT_TRUE(in) << in.error().message();
    EXPECT_EQ(in->client, "uuid");
    EXPECT_EQ(in->about, "the agent of worker-3");
    EXPECT_EQ(in->token, "") << "it is kept nowhere";
    const auto welcome = admitted(welcome_frame({"life", 1000}, {3, 4}), kOwn);
    ASSERT_TRUE(welcome) << welcome.error().message();
    EXPECT_EQ(welcome->server, "life");
    EXPECT_EQ(welcome->longest_frame, 1000u);
}

TEST(Admission, EverybodyElseIsToldWhy) {
    const std::string long_name(kLongestName + 1, 'x');
    wire::Frame ping;
    ping.mutable_ping();
    struct Case {
        const char* about;
        wire::Frame first;
        Code code;
        const char* text;
    };
    for (const Case& c : {
             Case{"no hello", ping, Code::kBadRequest, "must begin with the caller's name"},
             Case{"another token", hello_frame({"secreT", "c", ""}, kOwn), Code::kUnauthorized,
                  "not the token"},
             Case{"a part of it", hello_frame({"secre", "c", ""}, kOwn), Code::kUnauthorized,
                  "not the token"},
             Case{"none", hello_frame({"", "c", ""}, kOwn), Code::kUnauthorized, "not the token"},
             Case{"the token before the version", hello_frame({"", "c", ""}, {9, 9}),
                  Code::kUnauthorized, "not the token"},
             Case{"an old program", hello_frame({"secret", "c", ""}, {3, 3}), Code::kUnsupported,
                  "the caller speaks version 3.3 of the protocol and this program 3.5"},
             Case{"no name", hello_frame({"secret", "", ""}, kOwn), Code::kBadRequest, "a name"},
             Case{"a long name", hello_frame({"secret", long_name, ""}, kOwn), Code::kBadRequest,
                  "1 to 256 bytes"},
             Case{"a long story", hello_frame({"secret", "c", long_name}, kOwn), Code::kBadRequest,
                  "1 to 256 bytes"},
         }) {
        const auto in = admit(c.first, "secret", kOwn);
        ASSERT_FALSE(in) << c.about;
        EXPECT_EQ(in.error().code(), c.code) << c.about;
        EXPECT_THAT(in.error().message(), HasSubstr(c.text)) << c.about;
    }
}

TEST(Admission, AClientKnowsWhyItWasRefused) {
    const auto refused = admitted(farewell_frame(Error(Code::kUnauthorized, "not you")), kOwn);
    EXPECT_EQ(refused.error().code(), Code::kUnauthorized);
    EXPECT_EQ(refused.error().message(), "not you");
    EXPECT_EQ(admitted(welcome_frame({"life", 1000}, {4, 5}), kOwn).error().code(),
              Code::kUnsupported);
    EXPECT_EQ(admitted(welcome_frame({"", 1000}, kOwn), kOwn).error().code(), Code::kBadRequest);
    EXPECT_EQ(admitted(hello_frame({"", "c", ""}, kOwn), kOwn).error().code(), Code::kBadRequest);
}

TEST(Admission, AnIntroductionFitsBeforeTheTokenIsSeen) {
    const std::string longest(kLongestName, 'x');
    EXPECT_LE(hello_frame({std::string(1024, 't'), longest, longest}, {UINT32_MAX, UINT32_MAX})
                  .ByteSizeLong(),
              kLongestHello);
}

}  // namespace
}  // namespace muster::rpc::admission_test
