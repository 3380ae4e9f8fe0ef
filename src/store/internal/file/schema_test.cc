#include "store/internal/file/schema.h"

#include <gmock/gmock.h>

#include "store/store_folder_fixture.h"

namespace muster::store::schema_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFirst[] = {"CREATE TABLE t(a INTEGER); INSERT INTO t VALUES(1)"};
constexpr const char* kSecond[] = {kFirst[0], "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 7"};
constexpr const char* kThird[] = {kFirst[0], kSecond[1], "UPDATE t SET b = b + a"};
constexpr const char* kBroken[] = {kFirst[0], kSecond[1], "UPDATE t SET b = 0; no such thing"};

class SchemaTest : public ::testing::Test {
  protected:
    std::int64_t number(const char* sql) { return *connection_->number(sql, "asking"); }
    Result<void> bring(std::span<const char* const> steps) {
        return bring_up_to_date(*connection_, steps);
    }
    StoreFolder folder_;
    std::unique_ptr<Connection> connection_ =
        *Connection::open(folder_.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
};

TEST_F(SchemaTest, ANewFileGetsAllSteps) {
    ASSERT_TRUE(bring(kThird));
    EXPECT_EQ(number("SELECT b FROM t"), 8);
    EXPECT_EQ(number("PRAGMA user_version"), 3);
    EXPECT_EQ(number("PRAGMA application_id"), kApplicationId);
}

TEST_F(SchemaTest, AnOlderFileGetsWhatItLacks) {
    ASSERT_TRUE(bring(kFirst));
    ASSERT_TRUE(connection_->execute("UPDATE t SET a = 5", "editing"));
    ASSERT_TRUE(bring(kThird));
    EXPECT_EQ(number("SELECT b FROM t"), 12) << "each step once, on what was there";
    ASSERT_TRUE(bring(kThird));
    EXPECT_EQ(number("SELECT b FROM t"), 12);
}

TEST_F(SchemaTest, AStepThatFailsLeavesTheFileAsItWas) {
    ASSERT_TRUE(bring(kSecond));
    const Result<void> broken = bring(kBroken);
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().message(), HasSubstr("bringing it from version 2 to 3"));
    EXPECT_EQ(number("SELECT b FROM t"), 7);
    EXPECT_EQ(number("PRAGMA user_version"), 2);
    EXPECT_TRUE(bring(kThird));
}

TEST_F(SchemaTest, ANewerFileIsRefused) {
    ASSERT_TRUE(bring(kThird));
    const Result<void> refused = bring(kSecond);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnsupported);
    EXPECT_THAT(refused.error().message(),
                HasSubstr("it has version 3, and this program knows versions up to 2"));
}

}  // namespace
}  // namespace muster::store::schema_test
