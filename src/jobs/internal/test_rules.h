#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs {

/// One bad manifest and the one problem that it has.
struct RuleCase {
    std::string name;  ///< upstream's where there is one: "webhook:" is pytorch_webhook_test.go
    std::vector<Edit> edits;
    std::string reason;  ///< "" for none: the manifest is good
    std::string field;
    std::string message;  ///< a part of it
};

inline void expect_each(const std::vector<RuleCase>& cases) {
    using testing::AllOf;
    using testing::ElementsAre;
    using testing::Field;
    using testing::HasSubstr;
    for (const RuleCase& row : cases) {
        SCOPED_TRACE(row.name);
        const Review seen = review(pytorch_kind(), pytorch_manifest(row.edits));
        if (row.reason.empty()) {
            EXPECT_THAT(seen.problems, testing::IsEmpty());
            continue;
        }
        EXPECT_THAT(seen.problems,
                    ElementsAre(AllOf(Field("reason", &Cause::reason, "FieldValue" + row.reason),
                                      Field("field", &Cause::field, row.field),
                                      Field("message", &Cause::message, HasSubstr(row.message)))));
        const auto loaded = load(pytorch_kind(), pytorch_manifest(row.edits));
        ASSERT_FALSE(loaded.has_value());
        EXPECT_EQ(loaded.error().code(), Code::kInvalid);
        EXPECT_EQ(loaded.error().causes(), seen.problems);
        EXPECT_THAT(loaded.error().message(), AllOf(HasSubstr(row.field), HasSubstr(row.message)));
    }
}

}  // namespace muster::jobs
