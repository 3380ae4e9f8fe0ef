#include "store/sqlite_store.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "kube/values/equality.h"
#include "store/internal/file/sqlite.h"
#include "store/store_contract_test.h"
#include "store/store_folder_fixture.h"

namespace muster::store::sqlite_store_test {
namespace {

using ::testing::HasSubstr;

class SqliteWorld {
  public:
    SqliteWorld() {
        SqliteStoreOptions options;
        options.history.changes = 5;
        options.checkpoint_bytes = 64u << 10;
        options.log_limit_bytes = 256u << 10;
        store_ = *open_sqlite_store(folder_.path(), options, loop_.context.get_executor());
    }
    ~SqliteWorld() { loop_.await(store_->stop()); }
    TestLoop& loop() { return loop_; }
    Store& store() { return *store_; }

  private:
    StoreFolder folder_;
    RealLoop loop_;
    std::unique_ptr<Store> store_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, StoreContract, SqliteWorld);

class SqliteStoreTest : public StoreFileTest {
  protected:
    /// "after 2: 2<1 -<2": what history() knows.
    std::string history() const {
        const StoreHistory known = store_->history();
        const auto text = [](const ObjectTextPtr& object) {
            return object == nullptr ? "none" : std::string(object->tree()->at("text").as_string());
        };
        std::string all = fmt::format("after {}:", known.floor);
        for (const StoreHistory::Entry& entry : known.changes)
            all +=
                fmt::format(" {}<{}", entry.deleted ? "-" : text(entry.object), text(entry.before));
        return all;
    }
    std::string rows() {
        Connection& reader = connection();
        return *reader.text(
            "SELECT coalesce(group_concat(revision, ' '), '') FROM"
            " (SELECT revision FROM changes ORDER BY revision)",
            "counting");
    }
    Connection& connection() {
        if (connection_ == nullptr)
            connection_ = *Connection::open(folder_.path(), SQLITE_OPEN_READWRITE, "");
        return *connection_;
    }
    std::uintmax_t log_bytes() const { return std::filesystem::file_size(folder_.path() + "-wal"); }
    void TearDown() override { connection_.reset(); }

    std::unique_ptr<Connection> connection_;
};

TEST_F(SqliteStoreTest, WithoutRoomNothingNewIsTakenAndWhatIsThereIsChangedAndRemoved) {
    bool room = true;
    options_.has_room = [&] { return room; };
    open();
    ASSERT_TRUE(create("a", "1"));
    ASSERT_TRUE(create("b", "1"));
    room = false;
    const Result<StoredObject> refused = create("c", "1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kUnavailable);
    EXPECT_THAT(refused.error().message(), HasSubstr("the disk is nearly full"));
    EXPECT_THAT(store_->failure()->message(), HasSubstr("keeping something new"));
    EXPECT_TRUE(update("a", "2"));
    EXPECT_TRUE(remove("b"));
    room = true;
    EXPECT_FALSE(store_->failure());
    EXPECT_TRUE(create("c", "1"));
    open_again();
    EXPECT_EQ(objects(), "a=2@3 c=1@5");
}

TEST_F(SqliteStoreTest, AFileThatWasDeletedOrReplacedTakesNoWrites) {
    const std::string path = folder_.path();
    const std::function<void()> kCases[] = {
        [&] { std::filesystem::remove(path); },
        [&] { std::filesystem::remove(path + "-wal"); },
        [&] { std::filesystem::remove_all(folder_.folder()); },
        [&] {
            std::filesystem::copy_file(path, path + ".copy");
            std::filesystem::rename(path + ".copy", path);
        },
    };
    for (const auto& lose_it : kCases) {
        std::filesystem::create_directories(folder_.folder());
        open();
        ASSERT_TRUE(create("a", "1"));
        lose_it();
        const Result<StoredObject> refused = create("b", "1");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), Code::kUnavailable);
        EXPECT_THAT(refused.error().message(), HasSubstr("deleted or replaced"));
        ASSERT_TRUE(store_->failure());
        EXPECT_EQ(objects(), "a=1@1") << "reads continue";
        EXPECT_FALSE(update("a", "2"));
        close();
        std::filesystem::remove_all(folder_.folder());
    }
}

TEST_F(SqliteStoreTest, AnExceptionOnAThreadOfTheWriterFailsTheWritesAndIsTold) {
    options_.checkpoint_bytes = 4096;
    for (const char* thread : {"store write", "store checkpoint"}) {
        std::vector<std::string> logged;
        log::set_sink([&](log::Level, std::string_view line) { logged.emplace_back(line); });
        open();
        ASSERT_TRUE(create("kept", "1"));
        {
            const TaskFault fault(thread);
            // A checkpoint that fails is noticed with a later write.
            Result<void> written;
            for (int i = 0; i < 1000 && written; ++i)
                if (auto made = create(std::to_string(i), "1"); !made) written = made.error();
            ASSERT_FALSE(written) << thread;
            EXPECT_THAT(written.error().message(), HasSubstr("the log has it under the id"));
            EXPECT_THAT(store_->failure()->message(), HasSubstr(written.error().message()));
            EXPECT_FALSE(update("kept", "2"));
            close();
        }
        log::set_sink({});
        ASSERT_FALSE(logged.empty());
        EXPECT_THAT(logged[0], HasSubstr(fmt::format("where=\"{}\"", thread)));
        open();
        EXPECT_THAT(objects(), HasSubstr("kept=1@1")) << thread;
        close();
        std::filesystem::remove_all(folder_.folder());
        std::filesystem::create_directories(folder_.folder());
    }
}

TEST_F(SqliteStoreTest, ALargeTransactionBecomesVisibleInTurnsOfTheLoop) {
    open();
    int all = 0;
    int in_this_turn = 0;
    int most = 0;
    store_->observe([&](const StoreChange&) {
        ++all;
        most = std::max(most, ++in_this_turn);
    });
    // Others have their turn, too.
    std::function<void()> take_turn = [&] {
        in_this_turn = 0;
        if (all < 500) asio::post(context, take_turn);
    };
    asio::post(context, take_turn);
    create_at_once(500, "1");
    EXPECT_EQ(all, 500);
    EXPECT_LE(most, 64);
}

TEST_F(SqliteStoreTest, EverythingIsThereAfterAStop) {
    open();
    ASSERT_TRUE(create("a", "1"));
    ASSERT_TRUE(create("b", "1"));
    ASSERT_TRUE(update("a", "2"));
    ASSERT_TRUE(remove("b"));
    ASSERT_TRUE(create("c", "\x01 \xc3\xa9 \"quoted\""));
    const std::string before = objects();
    const std::string past = history();
    open_again();
    EXPECT_EQ(objects(), before);
    EXPECT_EQ(store_->revision(), 5u);
    EXPECT_EQ(history(), past);
    EXPECT_EQ(create("d", "1")->revision, 6u);
}

TEST_F(SqliteStoreTest, ValuesComeBackAsTheyWere) {
    const json::value stored = json::parse(R"({
        "whole": 9223372036854775807, "large": 18446744073709551615, "low": -9223372036854775808,
        "half": 0.5, "one": 1.0, "tiny": 1e-300, "none": null, "yes": true, "empty": {}, "list": [],
        "nested": {"a": [[[[{"b": ""}]]]]}, "": "an empty key"})");
    json::value deep = json::object{};
    for (int i = 0; i < 200; ++i) deep = json::object{{"d", std::move(deep)}};
    json::value whole = stored;
    whole.as_object()["deep"] = deep;
    whole.as_object()["broken utf-8"] = "\xff\xfe";
    const auto object = std::make_shared<const json::value>(whole);
    open();
    ASSERT_TRUE(await(store_->create(key("a"), [object](Revision) { return object; })));
    open_again();
    const auto found = await(store_->get(key("a")));
    ASSERT_TRUE(found);
    whole.as_object()["broken utf-8"] = "\xef\xbf\xbd\xef\xbf\xbd";  // which clients can read
    EXPECT_TRUE(kube::equal(*found->object->tree(), whole));
    EXPECT_TRUE(found->object->tree()->at("one").is_double());
    EXPECT_TRUE(found->object->tree()->at("large").is_uint64());
}

TEST_F(SqliteStoreTest, HistoryGoesWhenItLeavesTheWindowAndObjectsStay) {
    options_.history.changes = 3;
    open();
    ASSERT_TRUE(create("old", "1"));                                          // 1
    ASSERT_TRUE(create("a", "1"));                                            // 2
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(update("a", std::to_string(i)));  // 3 to 6
    ASSERT_TRUE(create("b", "1"));                                            // 7
    ASSERT_TRUE(remove("b"));                                                 // 8
    // The window is 6 to 8, and the state before 6 belongs to it.
    EXPECT_EQ(rows(), "1 5 6 7 8");
    EXPECT_EQ(history(), "after 5: 3<2 1<none -<1");
    open_again();
    EXPECT_EQ(history(), "after 5: 3<2 1<none -<1");
    for (const char* name : {"x", "y", "z"}) ASSERT_TRUE(create(name, "1"));  // 9 to 11
    EXPECT_EQ(rows(), "1 6 9 10 11") << "what was left to delete is known after a start too";
    EXPECT_EQ(objects(), "a=3@6 old=1@1 x=1@9 y=1@10 z=1@11");
}

TEST_F(SqliteStoreTest, HistoryHasALimitOfBytesToo) {
    options_.history.bytes = 2500;
    open();
    const std::string large(1000, 'x');
    ASSERT_TRUE(create("a", large));                                                  // 1
    for (const char* last : {"1", "2", "3"}) ASSERT_TRUE(update("a", large + last));  // 2 to 4
    EXPECT_EQ(rows(), "2 3 4") << "the states of two are past";
    ASSERT_TRUE(remove("a"));  // 5
    EXPECT_EQ(rows(), "3 4 5");
    ASSERT_TRUE(create("b", "1"));  // 6
    open_again();
    EXPECT_EQ(store_->history().floor, 3u);
    ASSERT_TRUE(update("b", large));  // 7
    ASSERT_TRUE(update("b", "2"));    // 8
    EXPECT_EQ(rows(), "4 5 6 7 8") << "what a start finds counts";
    EXPECT_EQ(store_->history().floor, 4u);
}

TEST_F(SqliteStoreTest, AWindowThatGrowsKnowsWhatTheFileKnows) {
    options_.history.changes = 2;
    open();
    ASSERT_TRUE(create("a", "0"));
    for (int i = 1; i < 6; ++i) ASSERT_TRUE(update("a", std::to_string(i)));
    options_.history.changes = 100;
    open_again();
    EXPECT_EQ(history(), "after 4: 4<3 5<4");
    ASSERT_TRUE(update("a", "6"));
    open_again();
    EXPECT_EQ(history(), "after 4: 4<3 5<4 6<5");
}

TEST_F(SqliteStoreTest, TheRevisionOutlivesTheLastObject) {
    options_.history.changes = 0;
    open();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(create("a", "1"));
        ASSERT_TRUE(remove("a"));
    }
    EXPECT_EQ(rows(), "5 6") << "the newest change stays, with the state before it";
    open_again();
    EXPECT_EQ(store_->revision(), 6u);
    EXPECT_EQ(history(), "after 6:");
    EXPECT_EQ(create("a", "1")->revision, 7u);
}

TEST_F(SqliteStoreTest, WritesThatAreBegunTogetherAreAllKept) {
    open();
    constexpr int kWrites = 3000;  // more than a transaction holds
    create_at_once(kWrites, "1");
    open_again();
    EXPECT_EQ(await(store_->list("pods", "", std::nullopt, 0))->size(), std::size_t{kWrites});
    EXPECT_EQ(store_->revision(), Revision{kWrites});
}

TEST_F(SqliteStoreTest, TheLogStaysBelowItsLimitAndIsGoneAfterAStop) {
    options_.checkpoint_bytes = 128u << 10;
    options_.log_limit_bytes = 512u << 10;
    options_.history.changes = 10;
    open();
    create_at_once(400, std::string(8000, 'x'));
    // It is used again from its beginning, so its size is the largest that it had. A transaction
    // that begins below the limit ends above.
    EXPECT_GT(log_bytes(), options_.checkpoint_bytes);
    EXPECT_LT(log_bytes(), options_.log_limit_bytes + 2 * options_.checkpoint_bytes);
    close();
    EXPECT_FALSE(std::filesystem::exists(folder_.path() + "-wal"));
    EXPECT_GT(std::filesystem::file_size(folder_.path()), 400u * 8000u);
}

TEST_F(SqliteStoreTest, AnotherProgramsLockIsWaitedFor) {
    open();
    std::size_t warnings = 0;
    log::set_sink([&](log::Level, std::string_view line) {
        if (line.find("another program holds the lock") == std::string_view::npos) return;
        ++warnings;
        (void)connection().execute("COMMIT", "letting go");
    });
    ASSERT_TRUE(connection().execute("BEGIN IMMEDIATE", "locking"));
    EXPECT_TRUE(create("a", "1"));
    close();
    log::set_sink({});
    EXPECT_EQ(warnings, 1u);
}

TEST_F(SqliteStoreTest, AStoreThatGoesWithoutAStopKeepsWhatWasBegun) {
    open();
    ASSERT_TRUE(create("a", "1"));
    asio::co_spawn(context, store_->create(key("b"), value("1")),
                   [](std::exception_ptr, const Result<StoredObject>&) {});
    settle();
    store_.reset();
    settle();
    open();
    EXPECT_EQ(objects(), "a=1@1 b=1@2");
}

}  // namespace
}  // namespace muster::store::sqlite_store_test
