#include "cli/internal/step/selector_text.h"

#include <fmt/format.h>

#include "base/fields.h"
#include "cli/internal/step/entry_text.h"
#include "kube/values/name_syntax.h"

namespace muster::cli {

namespace {

Error refused_selector(std::string_view entry, std::string_view what) {
    return {Code::kInvalid, fmt::format("\"{}\" {}", entry, what)};
}

Result<std::string> label_value(std::string_view entry, std::string_view value) {
    if (const std::string problem = kube::label_value_problem(value); !problem.empty())
        return refused_selector(entry, "has a value that no node can have: " + problem);
    return std::string(value);
}

}  // namespace

Result<NodeChoice> read_selector_text(std::string_view text) {
    NodeChoice choice;
    std::map<std::string, std::vector<std::string>> values;
    for (const std::string_view group : entries_of(text, ";\n\r\t")) {
        std::string key;
        for (const std::string_view entry : entries_of(group, ",")) {
            const std::size_t equals = entry.find('=');
            if (equals == entry.npos && key.empty())
                return refused_selector(entry,
                                        "is no key=value: write it as in cpu=true;train=true");
            if (equals != entry.npos) {
                key = trimmed(entry.substr(0, equals));
                if (const std::string problem = kube::label_key_problem(key); !problem.empty())
                    return refused_selector(entry, "has a key that no node can have: " + problem);
                values[key].clear();
            }
            const std::string_view value =
                trimmed(equals == entry.npos ? entry : entry.substr(equals + 1));
            TRY(std::string checked, label_value(entry, value));
            values[key].push_back(std::move(checked));
        }
    }
    for (auto& [key, allowed] : values) {
        if (allowed.size() == 1)
            choice.labels[key] = std::move(allowed.front());
        else
            choice.one_of[key] = std::move(allowed);
    }
    return choice;
}

}  // namespace muster::cli
