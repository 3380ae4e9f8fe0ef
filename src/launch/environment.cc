#include "launch/environment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/fields.h"
#include "base/trimmed.h"

namespace muster::launch {
namespace {

/// An environment in which each name occurs once, at the position of its first occurrence.
class Names {
  public:
    explicit Names(const Variables& base) {
        for (const auto& [name, value] : base)
            if (find_variable(variables_, name) == nullptr) variables_.emplace_back(name, value);
    }

    void set(std::string_view name, std::string value) {
        for (auto& [key, old] : variables_) {
            if (key != name) continue;
            old = std::move(value);
            return;
        }
        variables_.emplace_back(name, std::move(value));
    }
    void set(std::string_view name, int value) { set(name, std::to_string(value)); }
    void set_if_missing(std::string_view name, std::string value) {
        if (find_variable(variables_, name) == nullptr) set(name, std::move(value));
    }
    Variables take() { return std::move(variables_); }

  private:
    Variables variables_;
};

/// The host that torch's client connects to. The client first looks up the name of that address,
/// and of 127.0.0.1 as an IPv4-mapped IPv6 address, which no hosts file has: a name server that
/// does not answer would delay every worker. As a name, localhost resolves to ::1 first, which
/// hosts files do have.
std::string store_host(const std::string& host) { return host == "127.0.0.1" ? "localhost" : host; }

/// The device of one worker: one of those visible to this process, or of all.
Result<std::string> own_device(const Variables& base, int local_rank) {
    constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES";
    const std::string* const visible = find_variable(base, kName);
    if (visible == nullptr) return std::to_string(local_rank);
    std::string_view rest = *visible;
    for (int i = 0; !rest.empty(); ++i) {
        const std::string_view device = trimmed(take_field(rest, ','), " ");
        if (i == local_rank) return std::string(device);
    }
    return wrong({*visible, std::string(kName)},
                 fmt::format("--virtual-local-rank needs a device for each worker, and there is "
                             "none for local rank {}; reduce --nproc-per-node",
                             local_rank));
}

void set_ranks(Names& names, const WorkerSetting& setting, const job_protocol::Member& member,
               int local_rank) {
    const int rank = member.first_rank + local_rank;
    const int size = setting.world.size();
    names.set("LOCAL_RANK", local_rank);
    names.set("RANK", rank);
    names.set("GROUP_RANK", member.group_rank);
    names.set("ROLE_RANK", rank);
    names.set("ROLE_NAME", setting.plan.role);
    names.set("LOCAL_WORLD_SIZE", member.local_size);
    names.set("WORLD_SIZE", size);
    names.set("GROUP_WORLD_SIZE", setting.world.nodes);
    names.set("ROLE_WORLD_SIZE", size);
    names.set("MASTER_ADDR", store_host(setting.store.host));
    names.set("MASTER_PORT", setting.store.port);
}

void set_torchs(Names& names, const WorkerSetting& setting, const job_protocol::Member& member) {
    names.set("TORCHELASTIC_RESTART_COUNT", setting.world.restarts);
    names.set("TORCHELASTIC_MAX_RESTARTS", setting.plan.max_restarts);
    names.set("TORCHELASTIC_RUN_ID", setting.plan.run_id);
    names.set("TORCHELASTIC_USE_AGENT_STORE", "True");
    names.set_if_missing("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1");
    names.set_if_missing("NCCL_ASYNC_ERROR_HANDLING", "1");
    if (member.local_size > 1) names.set_if_missing("OMP_NUM_THREADS", "1");
}

void set_ours_and_dlrovers(Names& names, const WorkerSetting& setting) {
    names.set("DLROVER_PARAL_CONFIG_PATH", setting.job_dir + "/auto_paral_config.json");
    names.set("RUNTIME_METRICS_PATH", setting.job_dir + "/runtime_metrics.json");
    const job_protocol::Generation& generation = setting.world.generation;
    names.set("MUSTER_GENERATION", fmt::format("{}.{}", generation.epoch, generation.number));
    names.set("MUSTER_SLOT", setting.slot);
    names.set("MUSTER_HOOK", setting.plan.hook ? "1" : "0");
}

}  // namespace

Result<WorkerStart> worker_start(const WorkerSetting& setting, int local_rank,
                                 const Variables& base) {
    const job_protocol::Member* const member = setting.world.find(setting.slot);
    CHECK(member != nullptr, "an agent starts workers of a world that it is in");
    CHECK(local_rank >= 0 && local_rank < member->local_size, "a node has so many workers");
    Names names(base);
    set_ranks(names, setting, *member, local_rank);
    set_torchs(names, setting, *member);
    set_ours_and_dlrovers(names, setting);
    if (setting.plan.virtual_local_rank) {
        TRY(std::string device, own_device(base, local_rank));
        names.set("LOCAL_RANK", 0);
        names.set("CUDA_VISIBLE_DEVICES", std::move(device));
    }
    return WorkerStart{.local_rank = local_rank,
                       .rank = member->first_rank + local_rank,
                       .command = words_for(setting.plan.command, local_rank),
                       .environment = names.take(),
                       .spare_words = setting.plan.warm ? setting.plan.command.spare_words : 0};
}

}  // namespace muster::launch
