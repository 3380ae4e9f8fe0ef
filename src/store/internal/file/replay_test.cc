#include "store/internal/file/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace muster::store::replay_test {
namespace {

ChangeRow put(Revision revision, std::string name, Revision previous = 0) {
    return {{"pods", "default", std::move(name)},
            revision,
            previous,
            false,
            ObjectText::read(fmt::format(R"({{"at":{}}})", revision))};
}
ChangeRow end(Revision revision, std::string name, Revision previous) {
    ChangeRow row = put(revision, std::move(name), previous);
    row.deleted = true;
    return row;
}

std::string number(const ObjectTextPtr& object) {
    return object == nullptr ? "none" : json::serialize(object->tree()->at("at"));
}

/// "5: a@3 | after 2: 3<1 | 1:3 ...": objects, history, and rows that are only history.
std::string told(const std::expected<Replayed, RowDamage>& replayed) {
    if (!replayed) return replayed.error().what + ": " + replayed.error().why;
    std::string all = fmt::format("{}:", replayed->revision);
    for (const StoredObject& object : replayed->objects.list("pods", "", std::nullopt, 0))
        all += fmt::format(" {}@{}", object.key.name, object.revision);
    const StoreHistory history = replayed->window.history();
    all += fmt::format(" | after {}:", history.floor);
    for (const StoreHistory::Entry& entry : history.changes)
        all += fmt::format(" {}{}<{}", entry.deleted ? "-" : "", number(entry.object),
                           number(entry.before));
    all += " |";
    for (const Superseded& row : replayed->superseded)
        all += fmt::format(" {}:{}", row.since, row.row);
    return all;
}

struct Case {
    const char* name;
    std::vector<ChangeRow> rows;
    std::size_t history;
    const char* expected;
};

class ReplayTest : public ::testing::TestWithParam<Case> {};

TEST_P(ReplayTest, Amounts) {
    EXPECT_EQ(told(replay(GetParam().rows, {.changes = GetParam().history})), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, ReplayTest,
    ::testing::Values(
        Case{"Nothing", {}, 10, "0: | after 0: |"},
        Case{"Everything",
             {put(1, "a"), put(2, "b"), put(3, "a", 1), end(4, "b", 2)},
             10,
             "4: a@3 | after 0: 1<none 2<none 3<1 -4<2 | 3:1 4:2 4:4"},
        Case{"AgainAfterTheEnd",
             {put(1, "a"), end(2, "a", 1), put(3, "a")},
             10,
             "3: a@3 | after 0: 1<none -2<1 3<none | 2:1 2:2"},
        Case{"TheNewestOnly",
             {put(1, "a"), put(2, "a", 1), put(3, "a", 2)},
             2,
             "3: a@3 | after 1: 2<1 3<2 | 2:1 3:2"},
        Case{"NoHistory", {put(1, "a"), put(2, "a", 1)}, 0, "2: a@2 | after 2: | 2:1"},
        Case{"FromTheLastGap",
             {put(1, "a"), put(4, "b"), put(5, "c")},
             10,
             "5: a@1 b@4 c@5 | after 3: 4<none 5<none |"},
        Case{"FromWhereTheStateBeforeIsGone",
             {put(4, "b"), put(5, "a", 2), put(6, "c")},
             10,
             "6: a@5 b@4 c@6 | after 5: 6<none |"},
        Case{"ADeletionWhoseStateIsGone",
             {end(5, "a", 2), put(6, "c")},
             10,
             "6: c@6 | after 5: 6<none | 5:5"},
        Case{"TheNewestHasNoStateBefore", {put(5, "a", 2)}, 10, "5: a@5 | after 5: |"},
        Case{"AnUpdateOfAnother",
             {put(1, "a"), put(3, "a", 2)},
             10,
             "row 3 (pods \"a\"): it follows row 2, but row 1 is the newest before it"},
        Case{"ACreateOfWhatIsThere",
             {put(1, "a"), put(2, "a")},
             10,
             "row 2 (pods \"a\"): it follows row 0, but row 1 is the newest before it"},
        Case{"AnEndOfNothing",
             {put(1, "a"), end(2, "b", 0)},
             10,
             "row 2 (pods \"b\"): it deletes what was not there"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster::store::replay_test
