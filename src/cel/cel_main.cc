// Evaluates expressions, one a line, for the comparison with cel-go (tests/cluster/test_cel.py):
// {"expression": ..., "object": ...} is answered by {"refused": ...}, {"value": ...} or
// {"error": ...}, with the cost of the evaluation and the most of the estimate.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <string>

#include "cel/json_value.h"
#include "cel/literal_text.h"
#include "cel/program.h"

namespace {

using namespace muster;

constexpr std::uint64_t kLimit = 1'000'000;

json::object answer(const json::object& question) {
    const json::string& source = question.at("expression").get_string();
    const cel::Variable object{"object", cel::Type::Kind::kDyn, nullptr};
    const auto program = cel::Program::compile(source, std::span(&object, 1));
    if (!program) return {{"refused", program.error().front().message}};
    json::object said{{"most", program->most_cost()}};
    const cel::Outcome bound = cel::value_of(question.at("object"), nullptr);
    const cel::Binding binding{"object", bound ? *bound : cel::Value()};
    const auto [outcome, cost] = program->evaluate(std::span(&binding, 1), kLimit);
    said["cost"] = cost;
    if (outcome)
        said["value"] = cel::literal_text(*outcome);
    else
        said["error"] = outcome.error().text;
    return said;
}

}  // namespace

int main() {
    std::string line;
    while (std::getline(std::cin, line))
        std::cout << json::serialize(answer(json::parse(line).get_object())) << '\n';
    return std::cout.flush() ? 0 : 1;
}
