#include "apiserver/internal/quota/limit_range.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::apiserver::limit_range_test {
namespace {

LimitRanges ranges(std::initializer_list<std::string> limits) {
    LimitRanges all;
    for (const std::string& limit : limits)
        all.push_back(std::make_shared<const json::value>(
            json::parse(fmt::format(R"({{"spec":{{"limits":[{}]}}}})", limit))));
    return all;
}
json::object pod(std::string_view containers) {
    return json::parse(fmt::format(R"({{"spec":{{"containers":[{}]}}}})", containers)).get_object();
}
constexpr std::size_t kRoom = 3 << 20;

TEST(LimitRange, DefaultsOfSeveralRanges) {
    json::object made = pod(R"({"name":"c","resources":{"requests":{"cpu":"1"}}})");
    ASSERT_TRUE(set_limit_defaults(
        made,
        ranges({R"({"type":"Container","default":{"cpu":"2"},"defaultRequest":{"cpu":"3"}})",
                R"({"type":"Container","default":{"cpu":"9","memory":"1Gi"}})",
                R"({"type":"Pod","default":{"a/b":"1"}})"}),
        kRoom));
    EXPECT_EQ(json::serialize(made.at("spec").at("containers").at(0).at("resources")),
              R"({"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"1Gi"}})");
    EXPECT_EQ(made.at("metadata").at("annotations").at("kubernetes.io/limit-ranger"),
              "LimitRanger plugin set: memory limit for container c");
}

TEST(LimitRange, DefaultsThatMakeAPodTooLarge) {
    std::string names;
    for (int i = 0; i < 2000; ++i)
        names += fmt::format(R"({}"example.org/resource-number-{}":"1")", i == 0 ? "" : ",", i);
    std::string containers = R"({"name":"c"})";
    for (int i = 0; i < 2000; ++i) containers += R"(,{"name":"c"})";
    json::object made = pod(containers);
    EXPECT_FALSE(set_limit_defaults(
        made, ranges({fmt::format(R"({{"type":"Container","default":{{{}}}}})", names)}), kRoom));
}

TEST(LimitRange, ReasonsAreFew) {
    std::string names;
    for (int i = 0; i < 5000; ++i)
        names += fmt::format(R"({}"example.org/r{}":"1")", i == 0 ? "" : ",", i);
    std::string containers = R"({"name":"c"})";
    for (int i = 0; i < 5000; ++i) containers += R"(,{"name":"c"})";
    const json::object many = pod(containers);
    const std::string problem = pod_limit_problem(
        many, ranges({fmt::format(R"({{"type":"Container","min":{{{}}}}})", names)}));
    EXPECT_EQ(std::ranges::count(problem, '/'), 100);
    EXPECT_TRUE(
        problem.starts_with("[minimum example.org/r0 usage per Container is 1.  No request"));
    const std::string same =
        pod_limit_problem(many, ranges({R"({"type":"Container","min":{"cpu":"1"}})"}));
    EXPECT_EQ(same, "minimum cpu usage per Container is 1.  No request is specified");
}

}  // namespace
}  // namespace muster::apiserver::limit_range_test
