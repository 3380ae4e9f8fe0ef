#include "cli/internal/pods/find_container.h"

#include <fmt/format.h>

#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/discover.h"
#include "cli/internal/pods/pod_words.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

Task<Result<std::vector<ReachablePod>>> pods_of_job_named(Connection& connection,
                                                          std::string name) {
    CO_TRY(const kube::ListResult list,
           co_await connection.client().list(
               kube::types::kPods,
               {.namespace_ = connection.default_namespace(),
                .label_selector = fmt::format("{}={}", jobs::labels::kJobName, name),
                .field_selector = {},
                .resource_version = {},
                .continue_ = {}}));
    std::vector<ReachablePod> pods;
    for (const kube::ObjectPtr& object : list.items) pods.push_back(reachable_pod(*object));
    co_return pods;
}

Error not_found(const Connection& connection, const PodWords& words) {
    return {Code::kNotFound, fmt::format("there is no {} \"{}\" in namespace {}",
                                         words.kind != nullptr   ? words.kind->qualified_singular()
                                         : words.replica.empty() ? "job and no pod"
                                                                 : "job",
                                         words.name, connection.default_namespace())};
}

}  // namespace

Task<Result<ChosenContainer>> find_container(Connection& connection, std::string text,
                                             ContainerChoice choice) {
    CO_TRY(const ResourceCatalog catalog, co_await discover(connection));
    CO_TRY(const PodWords words, parse_pod_words(text, catalog));
    std::vector<const ApiResource*> kinds{words.kind};
    if (words.kind == nullptr) {
        CO_TRY(kinds, kinds_of_bare_names(catalog));
    }
    CO_TRY(NamedObject found, co_await find_named(connection, kinds, words.name));
    const auto is_pod = [&found] { return found.resource->type == kube::types::kPods; };
    if (found.resource == nullptr && words.kind == nullptr && !words.replica.empty()) {
        const auto pod =
            co_await connection.client().get(kube::types::kPods, words.name, words.replica);
        if (!pod) co_return not_found(connection, words);
        co_return choose_container({reachable_pod(**pod)}, std::move(choice), words.replica);
    }
    if (found.resource == nullptr) co_return not_found(connection, words);
    if (is_pod() && !words.replica.empty())
        co_return Error(Code::kInvalid,
                        fmt::format("{} is a pod, which has no replicas", words.name));
    if (is_pod())
        co_return choose_container({reachable_pod(*found.object)}, std::move(choice), words.name);
    if (!is_of_jobs(*found.resource))
        co_return Error(Code::kInvalid,
                        fmt::format("{} is neither a pod nor a job of training", text));
    if (!words.replica.empty()) choice.replica = words.replica;
    CO_TRY(std::vector<ReachablePod> pods, co_await pods_of_job_named(connection, words.name));
    co_return choose_container(std::move(pods), choice, words.name);
}

}  // namespace muster::cli
