#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>

#include "base/test_growth.h"
#include "cel/json_value.h"
#include "cel/program.h"

// Rules are written by others: to read them, and to say what is wrong with them, is work in
// proportion to their length. What they compute has a limit of its own.

namespace muster::cel::source_growth_test {
namespace {

using ::testing::EndsWith;

const Variable kObject{"object", Type::Kind::kDyn, nullptr};

std::string list_of_numbers(std::size_t size) {
    return "size([" + repeated(size, [](std::size_t i) { return fmt::format("{},", i); }) +
           "0]) > 0";
}
std::string map_of_texts(std::size_t size) {
    return "{" + repeated(size, [](std::size_t i) { return fmt::format("'k{}':'v',", i); }) +
           "'k':'v'} != {}";
}
std::string any_of(std::size_t size) {
    return repeated(size, [](std::size_t i) { return fmt::format("object.a=={}||", i); }) +
           "object.a==0";
}
std::string long_text(std::size_t size) {
    return "'" + repeated(size, [](std::size_t) { return std::string("a\\n"); }) + "' != ''";
}
std::string comments(std::size_t size) {
    return repeated(size, [](std::size_t) { return std::string("// x\n"); }) + "true";
}
std::string macros(std::size_t size) {
    return "[" +
           repeated(size,
                    [](std::size_t) { return std::string("[1].map(x,x+1).exists(y,y>0),"); }) +
           "true]!=[]";
}
std::string unknown_names(std::size_t size) {
    return "[" + repeated(size, [](std::size_t i) { return fmt::format("x{},", i); }) + "1]!=[]";
}
std::string unknown_names_in_lines(std::size_t size) {
    return "[" + repeated(size, [](std::size_t i) { return fmt::format("x{},\n", i); }) + "1]!=[]";
}
std::string unclosed(std::size_t size) { return std::string(size, '('); }
std::string operators(std::size_t size) { return "1" + std::string(size, '-') + "1"; }

void compile_and_run(std::string_view source) {
    const auto program = Program::compile(source, std::span(&kObject, 1));
    if (!program) {
        (void)describe(source, program.error());
        return;
    }
    static const json::value kDocument{{"a", 1}};
    const Binding binding{"object", *value_of(kDocument, nullptr)};
    (void)program->evaluate(std::span(&binding, 1), 1'000'000);
}

class SourceGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(SourceGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, SourceGrowth,
    ::testing::Values(GrowthCase{"list_of_numbers", list_of_numbers, compile_and_run, 1'000},
                      GrowthCase{"map_of_texts", map_of_texts, compile_and_run, 700},
                      GrowthCase{"any_of", any_of, compile_and_run, 500},
                      GrowthCase{"long_text", long_text, compile_and_run, 3'000},
                      GrowthCase{"comments", comments, compile_and_run, 1'900},
                      GrowthCase{"macros", macros, compile_and_run, 300},
                      GrowthCase{"unknown_names", unknown_names, compile_and_run, 1'000},
                      GrowthCase{"unknown_names_in_lines", unknown_names_in_lines, compile_and_run,
                                 1'000},
                      GrowthCase{"unclosed", unclosed, compile_and_run, 9'000},
                      GrowthCase{"operators", operators, compile_and_run, 9'000}),
    ::testing::PrintToStringParamName());

TEST(Describe, NamesNotAllIssuesWhereTheyAreMany) {
    const std::string source = unknown_names(10'000);
    const auto program = Program::compile(source, std::span(&kObject, 1));
    ASSERT_FALSE(program);
    ASSERT_GE(program.error().size(), 10'000u);
    const std::string text = describe(source, program.error());
    EXPECT_LT(text.size(), 3 * source.size());
    EXPECT_THAT(text, EndsWith(fmt::format("\nand {} more", program.error().size() - 1)));
}

/// A rule over a list that an object has, which is not the author's.
TEST(Evaluation, GrowsWithTheList) {
    const auto program = Program::compile("object.all(x, object.exists_one(y, y == x) || true)",
                                          std::span(&kObject, 1));
    ASSERT_TRUE(program);
    EXPECT_LE(growth_by_ten(1'000,
                            [&](std::size_t size) {
                                json::array list;
                                for (std::size_t i = 0; i < size; ++i) list.emplace_back(i);
                                const json::value document(std::move(list));
                                const Binding binding{"object", *value_of(document, nullptr)};
                                (void)program->evaluate(std::span(&binding, 1), 20'000);
                            }),
              kLinearGrowth);
}

}  // namespace
}  // namespace muster::cel::source_growth_test
