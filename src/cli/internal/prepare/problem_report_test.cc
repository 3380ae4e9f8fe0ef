#include "cli/internal/prepare/problem_report.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

namespace muster::cli::problem_report_test {
namespace {

using manifest::Problem;
using manifest::Severity;

std::vector<Problem> problems() {
    return {{Severity::kError, "dir/a job.yaml", {3, 7}, "spec.x", "is wrong"},
            {Severity::kWarning, "--set a=b", {}, "", "does nothing"},
            {Severity::kNote, "-", {1, 0}, "kind", "is passed over"}};
}

TEST(ProblemReport, AsJson) {
    Prepared prepared;
    prepared.notices = {"scaled"};
    EXPECT_EQ(json::value(report_of(prepared, problems())), json::parse(R"({
        "valid": false, "errors": 1, "warnings": 1, "problems": [
            {"severity": "error", "source": "dir/a job.yaml", "line": 3, "column": 7,
             "field": "spec.x", "message": "is wrong"},
            {"severity": "warning", "source": "--set a=b", "message": "does nothing"},
            {"severity": "note", "source": "-", "line": 1, "column": 0, "field": "kind",
             "message": "is passed over"}],
        "objects": [], "notes": ["scaled"]})"));
}

TEST(ProblemReport, AsSarif) {
    const json::object sarif = sarif_of(problems(), "1.2");
    EXPECT_EQ(sarif.at("version"), "2.1.0");
    const json::value& run = sarif.at("runs").at(0);
    EXPECT_EQ(run.at("tool").at("driver").at("version"), "1.2");
    EXPECT_EQ(run.at("results"), json::parse(R"([
        {"ruleId": "manifest", "ruleIndex": 0, "level": "error",
         "message": {"text": "spec.x: is wrong"}, "locations": [{
             "physicalLocation": {"artifactLocation": {"uri": "dir/a%20job.yaml"},
                                  "region": {"startLine": 3, "startColumn": 7}},
             "logicalLocations": [{"fullyQualifiedName": "spec.x"}]}]},
        {"ruleId": "manifest", "ruleIndex": 0, "level": "warning",
         "message": {"text": "does nothing"},
         "locations": [{"logicalLocations": [{"fullyQualifiedName": "--set a=b"}]}]},
        {"ruleId": "manifest", "ruleIndex": 0, "level": "note",
         "message": {"text": "kind: is passed over"},
         "locations": [{"logicalLocations": [{"fullyQualifiedName": "kind"}]}]}])"));
}

TEST(ProblemReport, PathsAsUris) {
    EXPECT_EQ(uri_of("a/b.yaml"), "a/b.yaml");
    EXPECT_EQ(uri_of("/a/ü #%.yaml"), "file:///a/%C3%BC%20%23%25.yaml");
    EXPECT_EQ(uri_of("c:d"), "c%3Ad");
}

}  // namespace
}  // namespace muster::cli::problem_report_test
