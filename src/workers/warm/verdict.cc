#include "workers/warm/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <exception>

#include "workers/warm/recipe.h"

namespace muster::workers {

namespace json = boost::json;

SpareVerdict judge(const SpareReady& ready) {
    using Kind = SpareVerdict::Kind;
    if (!ready.warm && !ready.module.empty())
        return {.kind = Kind::kWithout, .module = ready.module, .why = ready.why};
    if (!ready.warm)
        return {
            .kind = Kind::kNever,
            .why = ready.note.empty() ? ready.why : fmt::format("{}: {}", ready.why, ready.note)};
    for (const std::string& name : ready.reads)
        // These differ for each worker, so all of them would start cold.
        if (is_left_out(name))
            return {.kind = Kind::kNever,
                    .why = fmt::format("a module reads {} while it is imported, before its value "
                                       "is known; list the modules without it: --warm=MODULE,...",
                                       name)};
    return {};
}

Result<std::string> without_modules(std::string_view imports,
                                    const std::set<std::string>& modules) {
    const auto left_out = [&](const json::value& module) {
        const std::string_view name = module.as_string();
        return std::ranges::any_of(modules, [&](const std::string& one) {
            return name == one || name.starts_with(one + ".");
        });
    };
    try {
        json::value list = json::parse(imports);
        json::array kept;
        for (const json::value& module : list.at("modules").as_array())
            if (!left_out(module)) kept.push_back(module);
        list.at("modules") = std::move(kept);
        return json::serialize(list);
    } catch (const std::exception&) {
        return Error(Code::kInvalid, "it is not a list of modules written by the hook");
    }
}

std::string cause_of(std::string_view why) { return std::string(why.substr(0, why.find('\''))); }

}  // namespace muster::workers
