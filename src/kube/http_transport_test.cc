#include "kube/http_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HttpTransport, TargetsAreEscaped) {
    Request request;
    request.path = "/api/v1/namespaces/a b/pods/x:y%z";
    EXPECT_EQ(request_target(request), "/api/v1/namespaces/a%20b/pods/x:y%25z");
    request.path = "/api/v1/pods";
    request.query = {{"labelSelector", "a=b,c in (d)"}, {"watch", "true"}, {"n", "\xc3\xa9"}};
    EXPECT_EQ(request_target(request),
              "/api/v1/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29&watch=true&n=%C3%A9");
}

TEST(HttpTransport, WarningsAreQuotedTexts) {
    EXPECT_THAT(parse_warnings(R"(299 - "one")"), ElementsAre("one"));
    EXPECT_THAT(parse_warnings(R"(299 - "a \"b\" \\c", 299 - "d, e")"),
                ElementsAre("a \"b\" \\c", "d, e"));
    EXPECT_THAT(parse_warnings(R"(299 - "cut)"), ElementsAre("cut"));
    EXPECT_THAT(parse_warnings("299 - none"), IsEmpty());
    EXPECT_THAT(parse_warnings(""), IsEmpty());
    EXPECT_THAT(parse_warnings(R"(")"), ElementsAre(""));
}

}  // namespace
}  // namespace muster::kube
