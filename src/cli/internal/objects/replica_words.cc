#include "cli/internal/objects/replica_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "kube/values/json_access.h"

namespace muster::cli {

Result<std::vector<ReplicaWord>> parse_replica_words(const std::vector<std::string>& words) {
    std::vector<ReplicaWord> read;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const bool typed = equals != word.npos;
        const auto count =
            parse_number<std::int32_t>(typed ? std::string_view(word).substr(equals + 1) : word);
        if (!count || *count < 0 || equals == 0)
            return Error(Code::kInvalid,
                         fmt::format("--replicas wants a number, as in 4, or that of a type, as in "
                                     "Worker=4; not \"{}\"",
                                     word));
        read.push_back({.type = typed ? word.substr(0, equals) : std::string(), .count = *count});
    }
    if (read.empty())
        return Error(Code::kInvalid, "say how many with --replicas, as in --replicas Worker=4");
    const bool whole = std::ranges::any_of(read, &std::string::empty, &ReplicaWord::type);
    if (whole && read.size() > 1)
        return Error(Code::kInvalid,
                     "--replicas is given once with a number alone, or for types: Worker=4");
    return read;
}

Result<json::value> replica_patch(const json::object& job, const std::string& field,
                                  const std::vector<ReplicaWord>& words) {
    const json::object& types = kube::child(kube::child(job, "spec"), field);
    json::object changed;
    for (const ReplicaWord& word : words) {
        const auto found = std::ranges::find_if(
            types, [&word](const auto& type) { return equal_without_case(type.key(), word.type); });
        if (found == types.end()) {
            std::vector<std::string> names;
            for (const auto& type : types) names.emplace_back(type.key());
            return Error(Code::kInvalid,
                         fmt::format("{} has no replicas of type {}; it has: {}",
                                     kube::name_of(job), word.type, fmt::join(names, ", ")));
        }
        changed[found->key()] = {{"replicas", word.count}};
    }
    return json::value{{"spec", {{field, std::move(changed)}}}};
}

}  // namespace muster::cli
