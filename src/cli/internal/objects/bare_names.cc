#include "cli/internal/objects/bare_names.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

namespace muster::cli {

Result<std::vector<const ApiResource*>> kinds_of_bare_names(const ResourceCatalog& catalog) {
    std::vector<const ApiResource*> kinds;
    std::set<std::string> seen;
    for (const ApiResource& resource : catalog.all()) {
        if (!is_of_jobs(resource) || !resource.can("get")) continue;
        // A kind has all of its objects in each of its versions.
        if (seen.insert(resource.type.qualified()).second) kinds.push_back(&resource);
    }
    TRY(const auto pods, catalog.find("pods"));
    kinds.push_back(pods.front());
    return kinds;
}

Result<PossibleObject> parse_object_name(const std::string& word, const ResourceCatalog& catalog) {
    if (word.find('/') == std::string::npos) {
        TRY(auto kinds, kinds_of_bare_names(catalog));
        return PossibleObject{std::move(kinds), word};
    }
    TRY(const auto targets, parse_object_words({word}, catalog));
    return PossibleObject{{targets.front().resource}, targets.front().names.front()};
}

Task<Result<NamedObject>> find_named(Connection& connection, std::vector<const ApiResource*> kinds,
                                     std::string name) {
    for (const ApiResource* kind : kinds) {
        auto object =
            co_await connection.client().get(kind->type, connection.default_namespace(), name);
        if (object) co_return NamedObject{kind, *std::move(object)};
        if (object.error().code() != Code::kNotFound) co_return std::move(object.error());
    }
    co_return NamedObject{};
}

Task<Result<std::vector<Target>>> find_targets(Connection& connection,
                                               const ResourceCatalog& catalog,
                                               std::vector<std::string> words) {
    auto targets = parse_object_words(words, catalog);
    const bool bare = !words.empty() && words.front().find_first_of("/,") == std::string::npos;
    if (targets || targets.error().code() != Code::kNotFound || !bare) co_return targets;
    CO_TRY(const auto kinds, kinds_of_bare_names(catalog));
    std::vector<Target> found;
    for (const std::string& name : words) {
        CO_TRY(const NamedObject named, co_await find_named(connection, kinds, name));
        if (named.resource == nullptr)
            co_return Error(
                Code::kNotFound,
                fmt::format("there is no job and no pod \"{}\" in namespace {}, and {}", name,
                            connection.default_namespace(), targets.error().message()));
        found.push_back({named.resource, {name}});
    }
    co_return found;
}

}  // namespace muster::cli
