#include "cli/internal/objects/applied_change.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>

namespace muster::cli::applied_change_test {
namespace {

json::value object(const std::string& spec, const std::string& more = "", int version = 1,
                   const std::string& fields = R"({"f:spec":{}})", const std::string& by = "us") {
    return json::parse(R"({"metadata":{"name":"a","resourceVersion":")" + std::to_string(version) +
                       R"(","managedFields":[{"manager":")" + by +
                       R"(","operation":"Apply","fieldsV1":)" + fields + R"(}]},"spec":)" + spec +
                       more + "}");
}

TEST(AppliedChange, IsWhatTheManifestSaysAndNotWhatOthersWrote) {
    const json::value manifest =
        json::parse(R"({"metadata":{"name":"a"},"spec":{"image":"x","list":[1]}})");
    const std::string spec = R"({"image":"x","list":[1]})";
    struct Row {
        const char* about;
        json::value before;
        json::value after;
        bool nothing;
    };
    const Row kRows[] = {
        {"the same", object(spec), object(spec), true},
        {"a status of another", object(spec), object(spec, R"(,"status":{"phase":"Running"})", 2),
         true},
        {"a field of another", object(spec),
         object(R"({"image":"x","list":[1],"nodeName":"n"})", "", 2), true},
        {"a value", object(R"({"image":"y","list":[1]})"), object(spec, "", 2), false},
        {"a list", object(R"({"image":"x","list":[1,2]})"), object(spec, "", 2), false},
        {"a new field", object(R"({"image":"x"})"), object(spec, "", 2), false},
        {"a field that is not said any more", object(spec, "", 1, R"({"f:spec":{"f:old":{}}})"),
         object(spec, "", 2), false},
        {"its manager", object(spec, "", 1, R"({"f:spec":{}})", "them"), object(spec, "", 2),
         false},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(changed_nothing(manifest, "us", row.before, row.after), row.nothing) << row.about;
}

}  // namespace
}  // namespace muster::cli::applied_change_test
