#include "cli/internal/run_verbs/named_job.h"

#include <fmt/format.h>

#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/objects/object_words.h"

namespace muster::cli {

Task<Result<NamedJob>> find_job(Connection& connection, std::string word) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const PossibleObject possible, parse_object_name(word, catalog));
    const std::string& name = possible.name;
    CO_TRY(const NamedObject found, co_await find_named(connection, possible.kinds, name));
    if (found.resource == nullptr)
        co_return Error(
            Code::kNotFound,
            fmt::format("there is no run and no job \"{}\" in namespace {}; 'muster ps -a' lists "
                        "what there is",
                        word, connection.default_namespace()));
    co_return NamedJob{.type = found.resource->type,
                       .namespace_ = connection.default_namespace(),
                       .name = name,
                       .shown = fmt::format("{}/{}", found.resource->qualified_singular(), name),
                       .object = found.object};
}

}  // namespace muster::cli
