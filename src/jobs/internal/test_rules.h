#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs {

/// Expects no problem if `reason` is "", else only this one; `message` is a part of it.
inline void expect_problem(const Review& seen, const std::string& reason, const std::string& field,
                           const std::string& message) {
    using testing::Field;
    if (reason.empty()) {
        EXPECT_THAT(seen.problems, testing::IsEmpty());
        return;
    }
    EXPECT_THAT(seen.problems,
                testing::ElementsAre(testing::AllOf(
                    Field("reason", &Cause::reason, "FieldValue" + reason),
                    Field("field", &Cause::field, field),
                    Field("message", &Cause::message, testing::HasSubstr(message)))));
}

/// A bad manifest and its only problem.
struct RuleCase {
    std::string name;  ///< upstream's where there is one: "webhook:" is pytorch_webhook_test.go
    std::vector<Edit> edits;
    std::string reason;  ///< "" for none: the manifest is good
    std::string field;
    std::string message;  ///< a part of it
};

inline void expect_each(const std::vector<RuleCase>& cases) {
    using testing::AllOf;
    using testing::HasSubstr;
    for (const RuleCase& row : cases) {
        SCOPED_TRACE(row.name);
        const Review seen = review(pytorch_kind(), pytorch_manifest(row.edits));
        expect_problem(seen, row.reason, row.field, row.message);
        if (row.reason.empty()) continue;
        const auto loaded = load(pytorch_kind(), pytorch_manifest(row.edits));
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().code(), Code::kInvalid);
        EXPECT_EQ(loaded.error().causes(), seen.problems);
        EXPECT_THAT(loaded.error().message(), AllOf(HasSubstr(row.field), HasSubstr(row.message)));
    }
}

}  // namespace muster::jobs
