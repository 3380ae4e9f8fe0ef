#include "cel/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cel/json_value.h"
#include "cel/literal_text.h"

namespace muster::cel::program_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kLimit = 1'000'000;

/// The value as a literal, "error: ..." of the evaluation, or "refused: ..." of the first issue.
/// `object` is a variable of type dyn.
std::string evaluated(std::string_view source, const json::value& document = {},
                      std::uint64_t limit = kLimit) {
    const Variable object{"object", Type::Kind::kDyn, nullptr};
    const auto program = Program::compile(source, std::span(&object, 1));
    if (!program) return "refused: " + program.error().front().message;
    const Outcome value = value_of(document, nullptr);
    const Binding binding{"object", *value};
    const Program::Evaluation evaluation = program->evaluate(std::span(&binding, 1), limit);
    if (!evaluation.outcome) return "error: " + evaluation.outcome.error().text;
    return literal_text(*evaluation.outcome);
}

struct Case {
    const char* source;
    const char* result;
};

class ProgramTest : public ::testing::TestWithParam<Case> {};

TEST_P(ProgramTest, HasTheValueOfCelGo) {
    EXPECT_EQ(evaluated(GetParam().source), GetParam().result) << GetParam().source;
}

constexpr Case kLiterals[] = {
    {"1", "1"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775808", "refused: invalid int literal"},
    {"0x1F", "31"},
    {"18446744073709551615u", "18446744073709551615u"},
    {"1.5e3", "1500.0"},
    {".5", "0.5"},
    {"'a\\n\\u00e9\\x41\\101'", "\"a\\n\u00e9AA\""},
    {"r'\\d'", "\"\\\\d\""},
    {"'''a\n\"b'''", "\"a\\n\\\"b\""},
    {"b'\\xff\\x00'.size()", "2"},
    {"b'\u00e9'.size()", "2"},
    {"'\u00e9\U0001F600'.size()", "2"},
    {"null", "null"},
    {"[1, 2,]", "[1, 2]"},
    {"{'a': 1, 'b': 2}", "{\"a\": 1, \"b\": 2}"},
    {"{1: 'x', 1: 'y'}", "{1: \"y\"}"},
    {"{1.5: 1}", "error: unsupported key type: double"},
    {"// nothing\n1 // more", "1"},
    {"[1, 'a']", "refused: expected type 'int' but found 'string'"},
    {"[1, dyn(2)]", "refused: expected type 'int' but found 'dyn'"},
    {"as", "refused: reserved identifier: as"},
    {"1 +", "refused: Syntax error: mismatched input '<EOF>'"},
    {"(1", "refused: Syntax error: mismatched input '<EOF>'"},
    {"1 2", "refused: Syntax error: extraneous input '2'"},
    {"'abc", "refused: Syntax error: token recognition error at: ''abc'"},
    {"'\\q'", "refused: unable to unescape string"},
    {"'abc\\", "refused: Syntax error: token recognition error at: ''abc\\'"},
    {"\"\"\"abc", "refused: Syntax error: token recognition error at: '\"\"\"abc'"},
    {"a.b", "refused: undeclared reference to 'a' (in container '')"},
    {"Foo{a: 1}", "refused: undeclared reference to 'Foo' (in container '')"},
};
INSTANTIATE_TEST_SUITE_P(Literals, ProgramTest, ::testing::ValuesIn(kLiterals));

constexpr Case kOperators[] = {
    {"1 + 2 * 3 - 4 / 2 % 3", "5"},
    {"-7 / 2", "-3"},
    {"-7 % 2", "-1"},
    {"7 / 0", "error: division by zero"},
    {"7 % 0", "error: modulus by zero"},
    {"9223372036854775807 + 1", "error: integer overflow"},
    {"-9223372036854775808 / -1", "error: integer overflow"},
    {"-(-9223372036854775808)", "error: integer overflow"},
    {"1u - 2u", "error: unsigned integer overflow"},
    {"1.0 / 0.0", "+Inf"},
    {"0.0 / 0.0 == 0.0 / 0.0", "false"},
    {"--1", "1"},
    {"!!true", "true"},
    {"!1", "refused: found no matching overload for '!_' applied to '(int)'"},
    {"1 + 1u", "refused: found no matching overload for '_+_' applied to '(int, uint)'"},
    {"1 + 'a'", "refused: found no matching overload for '_+_' applied to '(int, string)'"},
    {"'a' + 'b'", "\"ab\""},
    {"[1] + [2] + [3, 4]", "[1, 2, 3, 4]"},
    {"([1] + [2] + [3, 4])[3]", "4"},
    {"b'a' + b'b'", "b\"ab\""},
    {"1 < 1.5 && 2u > 1 && 1.0 <= 1", "true"},
    {"1 == 1.0", "refused: found no matching overload for '_==_' applied to '(int, double)'"},
    {"dyn(1) == 1.0 && dyn(1u) == 1", "true"},
    {"dyn(1) == 'a'", "false"},
    {"[1, 2] == [1, 2] && {'a': [1]} == {'a': [1]}", "true"},
    {"[1, 2] != [2, 1]", "true"},
    {"dyn([1]) == [1.0]", "true"},
    {"0.0 / 0.0 < 1.0", "error: NaN values cannot be ordered"},
    {"dyn(0.0 / 0.0) < dyn('a')", "error: NaN values cannot be ordered"},
    {"dyn('a') < dyn(0.0 / 0.0)", "error: no such overload"},
    {"dyn('a') < 1", "error: no such overload"},
    {"2 in [1, 2, 3] && !(4 in [1, 2])", "true"},
    {"dyn(2.0) in [1, 2]", "true"},
    {"'a' in {'a': 1}", "true"},
    {"1 / 0 in []", "false"},
    {"1 > 2 ? 'a' : 'b'", "\"b\""},
    {"true || 1 / 0 > 1", "true"},
    {"1 / 0 > 1 || true", "true"},
    {"false && 1 / 0 > 1", "false"},
    {"1 / 0 > 1 && false", "false"},
    {"1 / 0 > 1 && true", "error: division by zero"},
    {"1 / 0 > 1 || 1 % 0 > 1", "error: division by zero"},
    {"dyn(1) && true", "error: no such overload"},
    {"[1, 2][2]", "error: index out of bounds: 2"},
    {"[1, 2][-1]", "error: index out of bounds: -1"},
    {"{'a': 1}['b']", "error: no such key: b"},
    {"{'a': 1}.a", "1"},
    {"{'a': 1}.b", "error: no such key: b"},
    {"has({'a': 1}.a) && !has({'a': 1}.b)", "true"},
    {"has('a')", "refused: invalid argument to has() macro"},
    {"{1: 2}[dyn(1.0)]", "2"},
    {"dyn([1])['a']", "error: unsupported index type 'string' in list"},
};
INSTANTIATE_TEST_SUITE_P(Operators, ProgramTest, ::testing::ValuesIn(kOperators));

constexpr Case kMacros[] = {
    {"[1, 2, 3].all(x, x > 0)", "true"},
    {"[1, 0].all(x, 1 / x > 0)", "error: division by zero"},
    {"[0, 1].all(x, 1 / x < 0)", "false"},
    {"[0, 1].exists(x, 1 / x > 0)", "true"},
    {"[].all(x, x)", "true"},
    {"[1, 2, 2].exists_one(x, x == 2)", "false"},
    {"[1, 2].existsOne(x, x == 2)", "true"},
    {"[1, 2, 3].map(x, x * 2)", "[2, 4, 6]"},
    {"[1, 2, 3].map(x, x > 1, x * 2)", "[4, 6]"},
    {"[1, 2, 3].filter(x, x % 2 == 1)", "[1, 3]"},
    {"{'a': 1, 'b': 2}.exists(k, k == 'b')", "true"},
    {"{'a': 1}.map(k, k)", "[\"a\"]"},
    {"[3, 4].all(i, v, i < v)", "true"},
    {"{'a': 'a'}.exists(k, v, k == v)", "true"},
    {"[3, 4].transformList(i, v, i + v)", "[3, 5]"},
    {"[3, 4].transformList(i, v, i > 0, v)", "[4]"},
    {"[3, 4].transformMap(i, v, v * 2)", "{0: 6, 1: 8}"},
    {"{'a': 1}.transformMapEntry(k, v, {v: k})", "{1: \"a\"}"},
    {"[1, 1].transformMapEntry(i, v, {v: i})", "error: insert failed: key 1 already exists"},
    {"[1].map(1, 2)", "refused: argument is not an identifier"},
    {"[1].all(x.y, true)", "refused: argument must be a simple name"},
    {"[1].all(__result__, true)", "refused: iteration variable overwrites accumulator variable"},
    {"1.all(x, true)",
     "refused: expression of type 'int' cannot be range of a comprehension (must "
     "be list, map, or dynamic)"},
    {"[[1, 2], [3]].map(l, l.map(x, x + 1))", "[[2, 3], [4]]"},
    {"[1, 2].map(x, [x].map(x, x * 10))", "[[10], [20]]"},
    {"[1].map(x, y)", "refused: undeclared reference to 'y' (in container '')"},
};
INSTANTIATE_TEST_SUITE_P(Macros, ProgramTest, ::testing::ValuesIn(kMacros));

constexpr Case kConversions[] = {
    {"int('42') + int(1.9) + int(2u) + int(duration('1ns'))", "46"},
    {"int('x')", "refused: type conversion error from 'string' to 'int'"},
    {"['x'].all(x, int(x) > 0)", "error: type conversion error from 'string' to 'int'"},
    {"int(1e19)", "refused: integer overflow"},
    {"uint(-1)", "refused: unsigned integer overflow"},
    {"double('1e3')", "1000.0"},
    {"string(1.0) + string(1e6) + string(1e-5) + string(0.1)", "\"11e+061e-050.1\""},
    {"string(true) + string(1u) + string(b'x')", "\"true1x\""},
    {"string(b'\\xff')", "refused: invalid UTF-8 in bytes, cannot convert to string"},
    {"bool('true') && !bool('0')", "true"},
    {"type(1) == int && type('a') == string && type(null) == null_type", "true"},
    {"type(type(1)) == type", "true"},
    {"type([1]) == list && type({}) == map", "true"},
    {"type(timestamp('2026-01-01T00:00:00Z')) == google.protobuf.Timestamp", "true"},
    {"duration('1h30m')", "duration(\"5400s\")"},
    {"duration('-1.5s')", "duration(\"-1.5s\")"},
    {"duration('1x')", "refused: invalid duration argument"},
    {"duration('1h') + duration('1m') > duration('1h')", "true"},
    {"timestamp('2026-01-02T03:04:05.5+01:00')", "timestamp(\"2026-01-02T02:04:05.5Z\")"},
    {"timestamp('2026-02-30T00:00:00Z')", "refused: invalid timestamp argument"},
    {"timestamp(0) + duration('24h')", "timestamp(\"1970-01-02T00:00:00Z\")"},
    {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
    {"timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-01T00:00:00Z')",
     "duration(\"2419200s\")"},
    {"timestamp('2026-11-26T20:00:00Z').getFullYear()", "2026"},
    {"timestamp('2026-11-26T20:00:00Z').getMonth()", "10"},
    {"timestamp('2026-11-26T20:00:00Z').getDate()", "26"},
    {"timestamp('2026-11-26T20:00:00Z').getDayOfMonth()", "25"},
    {"timestamp('2026-11-26T20:00:00Z').getDayOfWeek()", "4"},
    {"timestamp('2026-11-26T20:00:00Z').getDayOfYear()", "329"},
    {"timestamp('2026-11-26T20:00:00Z').getHours('-08:00')", "12"},
    {"timestamp('2026-11-26T20:00:00Z').getHours('Europe/Paris')", "21"},
    {"timestamp('2026-07-26T20:00:00Z').getHours('Europe/Paris')", "22"},
    {"timestamp('2045-07-26T20:00:00Z').getHours('Europe/Paris')", "22"},
    {"timestamp('2026-11-26T20:00:00Z').getHours('Nowhere')", "error: unknown time zone Nowhere"},
    {"duration('90m').getHours() + duration('90m').getMinutes()", "91"},
};
INSTANTIATE_TEST_SUITE_P(Conversions, ProgramTest, ::testing::ValuesIn(kConversions));

constexpr Case kStrings[] = {
    {"'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc')", "true"},
    {"'h\u00e9llo'.charAt(1)", "\"\u00e9\""},
    {"'abc'.charAt(3)", "\"\""},
    {"'abc'.charAt(4)", "error: index out of range: 4"},
    {"'h\u00e9llo h\u00e9llo'.indexOf('llo')", "2"},
    {"'hello hello'.indexOf('llo', 3)", "8"},
    {"'hello'.indexOf('x')", "-1"},
    {"'hello hello'.lastIndexOf('hello')", "6"},
    {"'hello hello'.lastIndexOf('hello', 5)", "0"},
    {"'AbC\u00c9'.lowerAscii() + 'ab'.upperAscii()", "\"abc\u00c9AB\""},
    {"'hello'.replace('l', 'L')", "\"heLLo\""},
    {"'hello'.replace('l', 'L', 1)", "\"heLlo\""},
    {"'abc'.replace('', '-')", "\"-a-b-c-\""},
    {"'a,b,c'.split(',')", "[\"a\", \"b\", \"c\"]"},
    {"'a,b,c'.split(',', 2)", "[\"a\", \"b,c\"]"},
    {"'a,b'.split(',', 0)", "[]"},
    {"'abc'.split('')", "[\"a\", \"b\", \"c\"]"},
    {"'tacocat'.substring(4)", "\"cat\""},
    {"'tacocat'.substring(0, 4)", "\"taco\""},
    {"'abc'.substring(2, 1)", "error: invalid substring range. start: 2, end: 1"},
    {"' \\ttrim\\n '.trim()", "\"trim\""},
    {"['a', 'b'].join() + ['a', 'b'].join('-')", "\"aba-b\""},
    {"strings.quote('a\\n\"')", "\"\\\"a\\\\n\\\\\\\"\\\"\""},
    {"'%s is %d, %.2f, %x, %b, %o, %%'.format(['a', 1, 2.345, 255, 5, 8])",
     "\"a is 1, 2.35, ff, 101, 10, %\""},
    {"'%s'.format([[1, 2]]) + '%s'.format([{'a': 'b'}])", "\"[1, 2]{\\\"a\\\":\\\"b\\\"}\""},
    {"['.', '-', 'Ki', '+.k', '.e5'].all(q, isQuantity(q) && quantity(q) == quantity('0'))",
     "true"},
    {"['', '..', '.e', '1e', ' 1', '1K'].exists(q, isQuantity(q))", "false"},
    {"isURL('mailto:a@b') && url('A:b?c=1').getScheme() == 'a'", "true"},
    {"url('a:b?c=1').getEscapedPath() + url('a:b').getHost()", "\"\""},
    {"['a', ':x', '1a:x', 'a_b:x', '?x'].exists(u, isURL(u))", "false"},
    {"'abc123'.matches('[a-z]+[0-9]{3}$')", "true"},
    {"'abc'.matches('^b')", "false"},
    {"'abc'.matches('(')", "refused: invalid matches argument"},
    {"'abc 123 def 456'.find('[0-9]+')", "\"123\""},
    {"'abc 123 def 456'.findAll('[0-9]+')", "[\"123\", \"456\"]"},
    {"'abc 123 def 456'.findAll('[0-9]+', 1)", "[\"123\"]"},
};
INSTANTIATE_TEST_SUITE_P(Strings, ProgramTest, ::testing::ValuesIn(kStrings));

constexpr Case kLibraries[] = {
    {"[1, 2, 3].isSorted() && [2, 1].isSorted() == false", "true"},
    {"[1, 2, 3].sum() + [3, 1, 2].min() + [3, 1].max()", "10"},
    {"[duration('1s'), duration('2s')].sum()", "duration(\"3s\")"},
    {"[1].filter(x, false).max()", "error: max called on empty list"},
    {"[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2"},
    {"sets.contains([1, 2], [2]) && !sets.contains([1], [2])", "true"},
    {"sets.equivalent([1, 1, 2], [2, 1]) && sets.intersects([1], [1, 5])", "true"},
    {"optional.of(1).value() + optional.none().orValue(2)", "3"},
    {"optional.none().value()", "error: optional.none() dereference"},
    {"{'a': 1}.?a.orValue(5) + {'a': 1}.?b.orValue(5)", "6"},
    {"{'a': {'b': 2}}.?a.?b", "optional.of(2)"},
    {"{'a': {'b': 2}}.?x.b", "optional.none()"},
    {"[1, 2][?5].hasValue()", "false"},
    {"optional.of(2).optMap(v, v * 2).value()", "4"},
    {"optional.of(2).optFlatMap(v, optional.none()).hasValue()", "false"},
    {"optional.none().or(optional.of(7)).value()", "7"},
    {"[?optional.of(1), ?optional.none(), 2]", "[1, 2]"},
    {"{?'a': optional.none(), 'b': 1}", "{\"b\": 1}"},
    {"quantity('1.5Gi').isGreaterThan(quantity('1Gi'))", "true"},
    {"quantity('1Ki').asInteger() + quantity('1').add(2).asInteger()", "1027"},
    {"quantity('500m').isInteger()", "false"},
    {"quantity('500m').asApproximateFloat()", "0.5"},
    {"quantity('1').compareTo(quantity('1000m'))", "0"},
    {"isQuantity('abc') || isQuantity('')", "false"},
    {"quantity('200M') == quantity('0.2G')", "true"},
    {"url('https://user@example.com:80/a%20b?x=1&x=2&y=#f').getHost()", "\"example.com:80\""},
    {"url('https://[::1]:80/').getHostname() + url('https://[::1]:80/').getPort()", "\"::180\""},
    {"url('https://e/a b').getEscapedPath()", "\"/a%20b\""},
    {"url('https://e/?x=1&x=2').getQuery()", "{\"x\": [\"1\", \"2\"]}"},
    {"isURL('/path') && isURL('https://e') && !isURL('e/f') && !isURL('')", "true"},
    {"ip('192.168.0.1').family() + ip('::1').family()", "10"},
    {"ip('127.0.0.1').isLoopback() && ip('fe80::1').isLinkLocalUnicast()", "true"},
    {"ip('8.8.8.8').isGlobalUnicast() && !ip('::').isGlobalUnicast()", "true"},
    {"isIP('1.2.3.4.5') || isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0')", "false"},
    {"ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", "true"},
    {"string(ip('2001:0db8:0:0:0:0:0:1'))", "\"2001:db8::1\""},
    {"cidr('192.168.0.0/24').containsIP('192.168.0.9')", "true"},
    {"cidr('192.168.0.0/24').containsIP(ip('192.168.1.9'))", "false"},
    {"cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')", "true"},
    {"string(cidr('192.168.0.9/24').masked())", "\"192.168.0.0/24\""},
    {"cidr('::1/128').prefixLength()", "128"},
    {"isCIDR('192.168.0.0/33')", "false"},
    {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"},
    {"semver('1.0.0-alpha').compareTo(semver('1.0.0'))", "-1"},
    {"semver('v01.2', true).minor()", "2"},
    {"isSemver('1.2') || isSemver('01.2.3')", "false"},
    {"format.dns1123Label().validate('my-name').hasValue()", "false"},
    {"format.dns1123Label().validate('My').value()[0].startsWith('a lowercase RFC 1123 label')",
     "true"},
    {"format.named('uuid').value().validate('x').value()", "[\"does not match the UUID format\"]"},
    {"format.named('nothing').hasValue()", "false"},
};
INSTANTIATE_TEST_SUITE_P(Libraries, ProgramTest, ::testing::ValuesIn(kLibraries));

constexpr Case kFormats[] = {
    {"'%s %s'.format(['a'])", "refused: index 1 out of range"},
    {"'%s'.format([1, 2])",
     "refused: too many arguments supplied to string.format (expected 1, got 2)"},
    {"'%d'.format(['a'])",
     "refused: error during formatting: decimal clause can only be used on integers, was given "
     "string"},
    {"'%d'.format([dyn('a')])",
     "error: error during formatting: decimal clause can only be used on integers, was given "
     "string"},
    {"'%f'.format([1])",
     "refused: error during formatting: fixed-point clause can only be used on doubles, was given "
     "int"},
    {"'%b'.format(['a'])",
     "refused: error during formatting: only integers and bools can be formatted as binary, was "
     "given string"},
    {"'%X'.format([true])",
     "refused: error during formatting: only integers, byte buffers, and strings can be formatted "
     "as hex, was given bool"},
    {"'%s'.format([[optional.of(1)]])",
     "refused: error during formatting: string clause can only be used on strings, bools, bytes, "
     "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type"},
    {"'%z'.format([1])",
     "refused: could not parse formatting clause: unrecognized formatting clause \"z\""},
    {"'%'.format([1])", "refused: unexpected end of string"},
    {"'%.f'.format([1.0])",
     "refused: could not parse formatting clause: error while parsing precision"},
    {"('%' + 'd').format(['a'])",
     "error: error during formatting: decimal clause can only be used on integers, was given "
     "string"},
    {"'%s%d'.format(['a', 1])", "\"a1\""},
    {"'%s'.format([[1, 'a']])", "\"[1, \\\"a\\\"]\""},
    {"[1, 'a']", "refused: expected type 'int' but found 'string'"},
    {"'%f %.0f'.format([-0.0, -0.4])", "\"0.000000 -0\""},
    {"'%.2f'.format([1234.567])", "\"1,234.57\""},
    {"'%e'.format([-12345.678])", "\"-1.234568\u00d710\u2070\u2074\""},
    {"'%.20e'.format([0.5])", "\"      5.000000\u00d710\u207b\u2070\u00b9\""},
    {"'%.3e'.format(['-Infinity'])", "\" -\u221e\""},
};
INSTANTIATE_TEST_SUITE_P(Formats, ProgramTest, ::testing::ValuesIn(kFormats));

TEST(ProgramDocumentTest, ReadsADocument) {
    const json::value document = json::parse(
        R"({"spec":{"replicas":3,"ratio":0.5,"names":["a","b"],"labels":{"x-y":"1"},"none":null}})");
    EXPECT_EQ(evaluated("object.spec.replicas + 1", document), "4");
    EXPECT_EQ(evaluated("object.spec.names.exists(n, n == 'b')", document), "true");
    EXPECT_EQ(evaluated("object.spec.labels['x-y']", document), "\"1\"");
    EXPECT_EQ(evaluated("object.spec.none == null", document), "true");
    EXPECT_EQ(evaluated("has(object.spec.other)", document), "false");
    EXPECT_EQ(evaluated("object.spec.other", document), "error: no such key: other");
    EXPECT_EQ(evaluated("object.spec.replicas.x", document), "error: no such key: x");
    EXPECT_EQ(evaluated("object.?spec.?other.orValue('x')", document), "\"x\"");
}

TEST(ProgramIssueTest, ShowsTheLineAndThePlace) {
    const auto program = Program::compile("true &&\n  1 + 'a' == 2", {});
    ASSERT_FALSE(program.has_value());
    EXPECT_EQ(
        describe("true &&\n  1 + 'a' == 2", program.error()),
        "ERROR: <input>:2:5: found no matching overload for '_+_' applied to '(int, string)'\n"
        " |   1 + 'a' == 2\n"
        " | ....^");
}

TEST(ProgramIssueTest, ConstantsAreComputedLast) {
    const auto wrong = Program::compile("int('x') == 1 && [1, 'a'] == []", {});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().front().message, "expected type 'int' but found 'string'");
    EXPECT_FALSE(wrong.error().front().when_planned);
    const auto constant = Program::compile("int('x') == 1", {});
    ASSERT_FALSE(constant.has_value());
    EXPECT_TRUE(constant.error().front().when_planned);
}

TEST(ProgramLimitTest, EndsWhenItCostsTooMuch) {
    const auto program = Program::compile(
        "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(a, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(b, "
        "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(c, a + b + c > 0)))",
        {});
    ASSERT_TRUE(program.has_value());
    const auto evaluation = program->evaluate({}, 1000);
    ASSERT_FALSE(evaluation.outcome.has_value());
    EXPECT_TRUE(evaluation.outcome.error().over_limit);
    EXPECT_LE(evaluation.cost, 1100);
    EXPECT_TRUE(program->evaluate({}, kLimit).outcome.has_value());
}

TEST(ProgramLimitTest, RefusesWhatIsTooDeepOrTooLarge) {
    EXPECT_THAT(evaluated(std::string(10'000, '(') + "1" + std::string(10'000, ')')),
                StartsWith("refused: expression recursion limit exceeded"));
    std::string chain = "1";
    for (int i = 0; i < 10'000; ++i) chain += "+1";
    EXPECT_THAT(evaluated(chain), StartsWith("refused: expression recursion limit exceeded"));
    std::string ands = "true";
    for (int i = 0; i < 10'000; ++i) ands += "&&true";
    EXPECT_EQ(evaluated(ands), "true");
    EXPECT_THAT(evaluated(std::string(100'001, ' ') + "1"), HasSubstr("exceeds limit"));
    std::string doubled = "optional.of(1)";
    for (int i = 0; i < 60; ++i) doubled += ".optMap(a, {'k': a, 'l': a})";
    EXPECT_EQ(evaluated(doubled + ".hasValue()"), "true");
    // Such values are small, and as many steps as they are wide to compare.
    constexpr std::uint64_t kSmallLimit = kLimit / 20;
    EXPECT_EQ(evaluated(doubled + " == " + doubled, {}, kSmallLimit),
              "error: operation cancelled: actual cost limit exceeded");
    EXPECT_EQ(evaluated("sets.contains([" + doubled + "], [" + doubled + "])", {}, kSmallLimit),
              "error: operation cancelled: actual cost limit exceeded");
    std::string wide = "optional.of(1)";
    for (int i = 0; i < 60; ++i) wide += ".optMap(a, {a: a})";
    EXPECT_THAT(evaluated(wide), StartsWith("refused: the type of the expression is too large"));
}

TEST(ProgramLimitTest, TextsDoNotGrowWithoutBound) {
    const json::value document{{"a", std::string(1 << 20, 'a')}};
    EXPECT_EQ(evaluated("object.a.replace('a', object.a).size()", document),
              "error: operation cancelled: actual cost limit exceeded");
}

}  // namespace
}  // namespace muster::cel::program_test
