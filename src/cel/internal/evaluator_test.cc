#include "cel/internal/evaluator.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cel/json_value.h"
#include "cel/literal_text.h"

namespace muster::cel {
namespace {

constexpr std::string_view kDocument =
    R"({"a":1,"name":"abc","size":3,"ratio":0.5,"numbers":[3,1,2],"labels":{"a":1,"x":5},)"
    R"("spec":{"n":4,"s":"x y","none":null}})";

/// The result and the cost that cel-go v0.23.2 has in the environment of Kubernetes 1.33.
struct Case {
    const char* source;
    const char* result;
    std::uint64_t cost;
};

class EvaluatorTest : public ::testing::TestWithParam<Case> {};

TEST_P(EvaluatorTest, HasTheResultAndTheCostOfCelGo) {
    const Variable object{"object", Type::Kind::kDyn, nullptr};
    const auto program = Program::compile(GetParam().source, std::span(&object, 1));
    ASSERT_TRUE(program.has_value()) << GetParam().source;
    const json::value parsed = json::parse(kDocument);
    const Outcome document = value_of(parsed, nullptr);
    const Binding binding{"object", *document};
    const auto [outcome, cost] = program->evaluate(std::span(&binding, 1), 1'000'000);
    EXPECT_EQ(outcome ? literal_text(*outcome) : "error: " + outcome.error().text,
              GetParam().result)
        << GetParam().source;
    EXPECT_EQ(cost, GetParam().cost) << GetParam().source;
}

constexpr Case kCases[] = {
    {"[3,1][1]", "1", 2},
    {"[3,1][?1]", "optional.of(1)", 2},
    {"{'a':1}['a']", "1", 2},
    {"{'a':1}[?'a']", "optional.of(1)", 2},
    {"{'a':object.a}[?'a']", "optional.of(1)", 34},
    {"{'a':1}.a", "1", 2},
    {"{'a':1}.?a", "optional.of(1)", 2},
    {"object.labels.a", "1", 3},
    {"object.labels['a']", "1", 3},
    {"object.labels[?'a']", "optional.of(1)", 3},
    {"object.labels.?a", "optional.of(1)", 3},
    {"object.?labels.?a", "optional.of(1)", 3},
    {"object.?labels.a", "optional.of(1)", 3},
    {"object.?none.a", "optional.none()", 1},
    {"object.?none.?a", "optional.none()", 1},
    {"object.?none[?'a']", "optional.none()", 1},
    {"object.?none[?'a'][?'b']", "optional.none()", 1},
    {"object.?none.?a.?b", "optional.none()", 1},
    {"has(object.a)", "true", 1},
    {"has(object.none)", "false", 1},
    {"has(object.spec.n)", "true", 2},
    {"has(object.spec.none.x)", "false", 3},
    {"has({'a':1}.a)", "true", 1},
    {"has({'a':object.a}.a)", "true", 33},
    {"has(object.?spec.a)", "false", 1},
    {"!has(object.a)", "false", 2},
    {"!object.none", "error: no such key: none", 3},
    {"-(object.none)", "error: no such key: none", 3},
    {"object.none + 1", "error: no such key: none", 3},
    {"1 + object.none", "error: no such key: none", 3},
    {"object.none + object.none2", "error: no such key: none", 5},
    {"object.none + object.a", "error: no such key: none", 5},
    {"object.none == object.a", "error: no such key: none", 5},
    {"[object.none, object.a]", "error: no such key: none", 12},
    {"[object.a, object.none]", "error: no such key: none", 14},
    {"{'a': object.none}", "error: no such key: none", 32},
    {"[object.none][0]", "error: no such key: none", 13},
    {"optional.of(object.none)", "error: no such key: none", 3},
    {"optional.of(1).orValue(object.none)", "1", 1},
    {"optional.of(1).or(optional.of(object.a)).hasValue()", "true", 2},
    {"optional.none().orValue(object.a)", "1", 3},
    {"optional.none().or(optional.of(object.a)).value()", "1", 5},
    {"'a'.replace(object.none, 'b')", "error: no such key: none", 2},
    {"object.none.replace('a', 'b')", "error: no such key: none", 2},
    {"object.none.lowerAscii()", "error: no such key: none", 3},
    {"['a'].join(object.none)", "error: no such key: none", 3},
    {"[object.a].map(x, x/0)", "error: division by zero", 27},
    {"[1,2].all(x, x/0 == 1)", "error: division by zero", 13},
    {"[1,2].exists(x, x/0 == 1)", "error: division by zero", 15},
    {"[1,2].exists_one(x, x/0 == 1)", "error: division by zero", 8},
    {"object.none.all(x, x)", "error: no such key: none", 2},
    {"object.none ? 1 : 2", "error: no such key: none", 2},
    {"true ? object.none : 2", "error: no such key: none", 1},
    {"object.none && true", "error: no such key: none", 2},
    {"object.none || object.none2", "error: no such key: none", 4},
    {"object.none in [1]", "error: no such key: none", 2},
    {"object.none in object.numbers", "error: no such key: none", 5},
    {"1 in object.none", "error: no such key: none", 3},
    {"type(object.none)", "error: no such key: none", 3},
    {"[object.labels][0].a", "1", 15},
    {"[object.labels][0][?'a']", "optional.of(1)", 15},
    {"[[1]][0][?0]", "optional.of(1)", 3},
    {"[1, 2][?0].orValue(3)", "1", 2},
    {"{}['5']", "error: no such key: 5", 2},
    {"optional.of([1,2])[?0]", "optional.of(1)", 3},
    {"optional.of([1,2])[0]", "optional.of(1)", 3},
    {"optional.of({'a':1}).a", "optional.of(1)", 3},
    {"optional.of({'a':1}).?a", "optional.of(1)", 3},
    {"optional.of({'a':object.a}).?a", "optional.of(1)", 35},
    {"optional.none()[?0]", "optional.none()", 2},
    {"optional.none().?a", "optional.none()", 2},
    {"optional.none().a", "optional.none()", 2},
    {"(true ? object.labels : {}).a", "1", 2},
    {"(true ? object.labels : {})[?'a']", "optional.of(1)", 2},
    {"(true ? [1] : [2])[?0]", "optional.of(1)", 1},
    {"(true ? [1] : [2])[0]", "1", 1},
    {"object.numbers[object.a]", "1", 4},
    {"object.numbers[?object.a]", "optional.of(1)", 4},
    {"object.numbers[?object.none]", "error: no such key: none", 3},
    {"object.numbers[object.none]", "error: no such key: none", 4},
    {"object.numbers[1+1]", "2", 4},
    {"object.numbers[?1+1]", "optional.of(2)", 4},
    {"[1,2][1+0]", "2", 3},
    {"[1,2][?1+0]", "optional.of(2)", 3},
    {"[1,2][object.a]", "2", 3},
    {"[1,2][?object.a]", "optional.of(2)", 3},
    {"has(object.spec.none.x)", "false", 3},
    {"has(object.a.x)", "false", 2},
    {"has(object.numbers.x)", "error: unsupported index type 'string' in list", 2},
    {"has(object.name.x)", "false", 2},
    {"object.a.x", "error: no such key: x", 3},
    {"object.numbers.x", "error: unsupported index type 'string' in list", 3},
    {"object.name.x", "error: no such key: x", 3},
    {"object.spec.none.x", "error: no such key: x", 4},
    {"object.?a.x", "optional.none()", 2},
    {"object.a.?x", "optional.none()", 2},
    {"object.numbers.?x", "error: unsupported index type 'string' in list", 2},
    {"object.numbers[?'x']", "error: unsupported index type 'string' in list", 2},
    {"object.numbers['x']", "error: unsupported index type 'string' in list", 3},
    {"object.name[?0]", "optional.none()", 2},
    {"object.name[0]", "error: no such key: 0", 3},
    {"object.a[?0]", "optional.none()", 2},
    {"object.a[?'x']", "optional.none()", 2},
    {"object.labels[?0]", "optional.none()", 2},
    {"object.labels[0]", "error: no such key: 0", 3},
    {"object.labels[1.5]", "error: no such key: 1.5", 3},
    {"object.numbers[1.5]", "error: unsupported index value 1.5 in list", 3},
    {"object.numbers[?1.5]", "error: unsupported index value 1.5 in list", 2},
    {"object.numbers[1.0]", "1", 3},
    {"object.numbers[?1.0]", "optional.of(1)", 3},
    {"object.numbers[1u]", "1", 3},
    {"object.numbers[true]", "error: unsupported index type 'bool' in list", 3},
    {"object.numbers[?true]", "error: unsupported index type 'bool' in list", 2},
    {"object.numbers[?-1]", "optional.none()", 2},
    {"object.numbers[-1]", "error: index out of bounds: -1", 3},
    {"object.labels[?object.none]", "error: no such key: none", 3},
    {"object.labels[true]", "error: no such key: true", 3},
    {"optional.of(object.a).x", "optional.none()", 4},
    {"optional.of(object.a).?x", "optional.none()", 4},
    {"optional.of(object.numbers)['x']", "error: unsupported index type 'string' in list", 4},
    {"dyn(1)[0]", "error: no such key: 0", 2},
    {"dyn(1)[?0]", "optional.none()", 1},
    {"dyn('a')[?0]", "optional.none()", 1},
    {"dyn(1).x", "error: no such key: x", 2},
    {"dyn('a').?x", "optional.none()", 1},
    {"duration('1s') == dyn(1)", "false", 1},
    {"has(dyn(1).x)", "false", 1},
    {"dyn(timestamp(0)).x", "error: no such key: x", 2},
    {"dyn(timestamp(0)).?x", "optional.none()", 1},
    {"double(([] + object.numbers)[0])", "error: no such overload: double(int)", 6},
    {"sets.intersects([], object.numbers + [4])", "false", 4},
    {"([] + object.numbers + ['x']).max()", "error: no such overload: max(list)", 7},
    {"[dyn(1), dyn('a'), dyn(0)].isSorted()", "true", 2},
    {"[dyn(1), dyn('a'), dyn(3)].max()", "3", 2},
    {"[dyn(null)].max()", "error: no such overload: max(list)", 1},
    {"object.a.lowerAscii()", "error: no such overload: lowerAscii(int)", 3},
    {"object.a.indexOf(object.none)", "error: no such key: none", 5},
    {"object.none.indexOf(object.a)", "error: no such key: none", 2},
    {"'a'.split('b').join(object.a)", "error: no such overload: join(list, int)", 4},
    {"object.a % object.ratio", "error: no such overload", 5},
    {"sign(quantity('-3'))", "-1", 2},
    {"sign(quantity('x'))",
     "error: quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     2},
    {"cidr('::/0').containsCIDR('::/0')", "true", 3},
    {"cidr('::/0').containsIP('0.0.0.0')", "false", 2},
};
INSTANTIATE_TEST_SUITE_P(Costs, EvaluatorTest, ::testing::ValuesIn(kCases));

}  // namespace
}  // namespace muster::cel
