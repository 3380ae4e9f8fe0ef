// Any text: it is refused with a place, or it is a program that ends within its limit.

#include <boost/json/parse.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cel/json_value.h"
#include "cel/program.h"

using namespace muster::cel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const boost::json::value document = boost::json::parse(
        R"({"spec":{"replicas":3,"names":["a","b"],"ratio":0.5,"when":"2026-01-01T00:00:00Z"}})");
    static const Variable object{"object", Type::Kind::kDyn, nullptr};
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    const auto program = Program::compile(source, std::span(&object, 1));
    if (!program) {
        CHECK(!program.error().empty(), "a refusal says why");
        for (const Issue& issue : program.error())
            CHECK(issue.at <= source.size() && !issue.message.empty(), "and where");
        describe(source, program.error());
        return 0;
    }
    const Binding binding{"object", *value_of(document, nullptr)};
    const auto evaluation = program->evaluate(std::span(&binding, 1), 10'000);
    if (!evaluation.outcome) CHECK(!evaluation.outcome.error().text.empty(), "a failure says why");
    return 0;
}
