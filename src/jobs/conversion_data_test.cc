#include "jobs/internal/conversion_data.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/rng.h"

namespace muster::jobs::conversion_data_test {
namespace {

struct Row {
    std::string name;
    std::string from;
    std::string to;
};
class ConversionData : public testing::TestWithParam<Row> {};

TEST_P(ConversionData, GivesTheSameText) {
    const json::value from = json::parse(GetParam().from);
    const json::value to = json::parse(GetParam().to);
    const json::array edits = conversion_data(from, to);
    for (const bool all_or_none : {false, true}) {
        json::value object = from;
        apply_conversion_data(edits, object, all_or_none);
        EXPECT_EQ(json::serialize(object), json::serialize(to)) << json::serialize(edits);
    }
}
INSTANTIATE_TEST_SUITE_P(
    , ConversionData,
    testing::Values(
        Row{"Nothing", R"({"a":1})", R"({"a":1})"},
        Row{"Added", R"({"a":1})", R"({"a":1,"b":[2]})"},
        Row{"AddedInFront", R"({"a":1})", R"({"b":{"c":2},"a":1})"},
        Row{"Removed", R"({"a":1,"b":2,"c":3})", R"({"a":1,"c":3})"},
        Row{"Replaced", R"({"a":{"b":1}})", R"({"a":{"b":"1"}})"},
        Row{"Order", R"({"a":1,"b":2,"c":3})", R"({"c":3,"a":1,"b":2})"},
        Row{"InsideOfAList", R"({"a":[{"b":1},{"c":2}]})", R"({"a":[{"b":1},{"d":4}]})"},
        Row{"AListThatGrew", R"({"a":[1,2]})", R"({"a":[1,2,3]})"},
        Row{"KeysThatPointersEscape", R"({"x/y":1,"~":2})", R"({"x/y":3,"~":{"/":4}})"},
        Row{"AnEmptyKey", R"({"":1})", R"({"":2})"}, Row{"ANull", R"({"a":1})", R"({"a":null})"},
        Row{"Another type", R"({"a":[1]})", R"({"a":{"0":1}})"},
        Row{"LongValues",
            R"({"a":"0123456789012345678901234567890123456789012345678901234567890"})",
            R"({"b":"0123456789012345678901234567890123456789012345678901234567890"})"}),
    [](const auto& row) {
        std::string name;
        for (const char c : row.param.name)
            if (c != ' ') name += c;
        return name;
    });

json::value random_value(Rng& rng, int depth) {
    switch (rng.below(depth > 0 ? 6 : 4)) {
        case 0:
            return nullptr;
        case 1:
            return static_cast<std::int64_t>(rng.below(3));
        case 2:
            return rng.chance(0.5);
        case 3:
            return rng.chance(0.5) ? "a" : "text";
        case 4: {
            json::array list;
            for (std::uint64_t i = rng.below(4); i > 0; --i)
                list.push_back(random_value(rng, depth - 1));
            return list;
        }
        default:
            break;
    }
    json::object object;
    for (std::uint64_t i = rng.below(5); i > 0; --i)
        object[std::string(1, static_cast<char>('a' + rng.below(5)))] =
            random_value(rng, depth - 1);
    return object;
}

json::value random_object(Rng& rng) {
    json::value value = random_value(rng, 4);
    return value.is_object() ? value : json::object{{"a", value}};
}

TEST(ConversionDataProperty, LeadsFromAnyObjectToAnyOther) {
    Rng rng(20260);
    for (int round = 0; round < 5000; ++round) {
        const json::value from = random_object(rng);
        const json::value to = random_object(rng);
        json::value object = from;
        apply_conversion_data(conversion_data(from, to), object, round % 2 == 0);
        ASSERT_EQ(json::serialize(object), json::serialize(to)) << json::serialize(from);
    }
}

TEST(ConversionDataProperty, OfASecondTakesNothingAmissInAThird) {
    Rng rng(7);
    for (int round = 0; round < 5000; ++round) {
        const json::array edits = conversion_data(random_object(rng), random_object(rng));
        json::value object = random_object(rng);
        apply_conversion_data(edits, object, round % 2 == 0);
        ASSERT_TRUE(object.is_object());
    }
}

TEST(ConversionDataEdits, LeaveAloneWhatWasEditedMeanwhile) {
    const json::array edits = conversion_data(json::parse(R"({"made":1,"same":2})"),
                                              json::parse(R"({"same":2,"kept":3})"));
    json::value edited = json::parse(R"({"made":9,"same":2})");
    apply_conversion_data(edits, edited, false);
    EXPECT_EQ(json::serialize(edited), R"({"made":9,"same":2,"kept":3})");
    edited = json::parse(R"({"made":9,"same":2})");
    apply_conversion_data(edits, edited, true);
    EXPECT_EQ(json::serialize(edited), R"({"made":9,"same":2})");
    edited = json::parse(R"({"made":1,"same":2,"kept":4})");
    apply_conversion_data(edits, edited, false);
    EXPECT_EQ(json::serialize(edited), R"({"same":2,"kept":4})");
}

TEST(ConversionDataEdits, DoNotMindThatAServerSortedTheKeys) {
    const json::value from =
        json::parse(R"({"big":{"b":"0123456789012345678901234567890","a":"0123456789"}})");
    const json::array edits = conversion_data(from, json::parse("{}"));
    json::value sorted =
        json::parse(R"({"big":{"a":"0123456789","b":"0123456789012345678901234567890"}})");
    apply_conversion_data(edits, sorted, true);
    EXPECT_EQ(json::serialize(sorted), "{}");
}

TEST(ConversionDataEdits, ThatAreNoneChangeNothing) {
    for (const char* text : {R"([1])", R"([{}])", R"([{"at":"a"}])", R"([{"at":"/a/b/c","is":1}])",
                             R"([{"at":"","is":1}])", R"([{"at":"/l/7","is":1}])",
                             R"([{"at":"/l/0","is":1}])", R"([{"at":"/a","order":["x"]}])"}) {
        json::value object = json::parse(R"({"a":1,"l":[5]})");
        apply_conversion_data(json::parse(text).get_array(), object, false);
        EXPECT_EQ(json::serialize(object), R"({"a":1,"l":[5]})") << text;
    }
}

}  // namespace
}  // namespace muster::jobs::conversion_data_test
