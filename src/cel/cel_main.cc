// Evaluates expressions, one a line, for the comparison with cel-go (tests/cluster/test_cel.py):
// {"expression": ..., "object": ...} is answered by {"refused": ...}, {"value": ...} or
// {"error": ...}, with the cost of the evaluation and the most of the estimate.

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <string>

#include "cel/authorizer.h"
#include "cel/json_value.h"
#include "cel/literal_text.h"
#include "cel/program.h"

namespace {

using namespace muster;

constexpr std::uint64_t kLimit = 1'000'000;

/// As that of tests/cluster/cel: it allows to get, and fails where it is asked for "fail".
class Rights final : public cel::Authorizer {
  public:
    std::optional<cel::AuthorizationAnswer> answer(
        const cel::AuthorizationQuestion& question) override {
        if (question.verb == "get") return cel::AuthorizationAnswer{true, "because", ""};
        if (question.verb == "fail") return cel::AuthorizationAnswer{false, "", "no answer"};
        return cel::AuthorizationAnswer{};
    }
};

json::object answer(const json::object& question) {
    const json::string& source = question.at("expression").get_string();
    const std::array<cel::Variable, 2> names{
        {{"object", cel::Type::Kind::kDyn, nullptr},
         {"authorizer", cel::Type::opaque("kubernetes.authorization.Authorizer"), nullptr}}};
    const auto program = cel::Program::compile(source, names);
    if (!program) return {{"refused", program.error().front().message}};
    json::object said{{"most", program->most_cost()}};
    const cel::Outcome bound = cel::value_of(question.at("object"), nullptr);
    Rights rights;
    const std::array<cel::Binding, 2> bindings{
        {{"object", bound ? *bound : cel::Value()}, {"authorizer", cel::authorizer_value(rights)}}};
    const auto [outcome, cost] = program->evaluate(bindings, kLimit);
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
