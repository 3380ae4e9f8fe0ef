#include "master_process/wanted_nodes/wanted_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/log.h"

namespace muster::master_process {
namespace {

/// More replicas than a job can have: a status that says so was not written by an operator.
constexpr int kMostNodes = 100'000;

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || value < 0 || value >= kMostNodes) return std::nullopt;
    return value;
}

const json::object* object_in(const json::object& parent, std::string_view key) {
    const json::value* const found = parent.if_contains(key);
    return found == nullptr ? nullptr : found->if_object();
}

/// Ids "0-2,5" and, where they differ from their ids, ranks {"5": 3}.
std::optional<WantedRanks> ranks_of(const json::object& members) {
    const json::value* const ids = members.if_contains("ids");
    if (ids == nullptr || !ids->is_string()) return std::nullopt;
    const json::object* const kept = object_in(members, "ranks");
    WantedRanks found;
    std::set<int> ranks;
    const auto note = [&](int id) {
        const json::value* const text =
            kept == nullptr ? nullptr : kept->if_contains(std::to_string(id));
        const std::int64_t rank = text != nullptr && text->is_int64() ? text->as_int64() : id;
        if (rank < 0 || rank >= kMostNodes) return;
        ranks.insert(static_cast<int>(rank));
        if (rank != id) found.of_successors.insert(static_cast<int>(rank));
    };
    std::string_view rest = ids->as_string();
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        const std::size_t dash = part.find('-');
        const auto first = number(part.substr(0, dash));
        const auto last = dash == part.npos ? first : number(part.substr(dash + 1));
        if (!first || !last) return std::nullopt;
        for (int id = *first; id <= *last; ++id) note(id);
    }
    found.number = static_cast<int>(ranks.size());
    return found;
}

}  // namespace

Result<kube::ResourceType> resource_of(std::string_view text) {
    const std::size_t after_plural = text.find('.');
    const std::size_t after_version =
        after_plural == text.npos ? text.npos : text.find('.', after_plural + 1);
    if (after_plural == 0 || after_version == text.npos || after_version + 1 == text.size())
        return Error(Code::kInvalid,
                     fmt::format("\"{}\" names no kind of object: PLURAL.VERSION.GROUP", text));
    kube::ResourceType type;
    type.plural = text.substr(0, after_plural);
    type.version = text.substr(after_plural + 1, after_version - after_plural - 1);
    type.group = text.substr(after_version + 1);
    return type;
}

std::optional<WantedRanks> wanted_ranks(const json::value& job,
                                        const std::vector<std::string>& types) {
    const json::object* const whole = job.if_object();
    const json::object* const status = whole == nullptr ? nullptr : object_in(*whole, "status");
    const json::object* const members = status == nullptr ? nullptr : object_in(*status, "members");
    if (members == nullptr) return std::nullopt;
    WantedRanks all;
    for (const std::string& type : types) {
        const json::object* const of_type = object_in(*members, type);
        if (of_type == nullptr) continue;  // the job has no such replicas
        auto ranks = ranks_of(*of_type);
        if (!ranks) return std::nullopt;
        all.number += ranks->number;
        all.of_successors.merge(ranks->of_successors);
    }
    return all.number == 0 ? std::nullopt : std::optional(std::move(all));
}

/// Tells one master's job.
class WantedNodes::Teller final : public master::Service {
  public:
    Teller(WantedNodes& source, const master::ServiceContext& context)
        : source_(source), job_(context.job), wake_(context.wake) {
        source_.wake_ = wake_;
    }
    ~Teller() override { source_.wake_ = {}; }

    bool advance(Instant, WallTime) override {
        if (source_.wanted_ == told_) return false;
        told_ = source_.wanted_;
        if (told_.nodes) {
            job_.wants_nodes(told_.nodes->number);
            job_.expects_successors(told_.nodes->of_successors);
        }
        if (told_.servers) job_.wants_servers(told_.servers->number);
        wake_();
        return false;
    }

  private:
    WantedNodes& source_;
    master::ServiceHost& job_;
    std::function<void()> wake_;
    Wanted told_;
};

WantedNodes::WantedNodes(kube::Client& client, Clock& clock, Rng& rng, FollowedJob job)
    : job_(std::move(job)),
      reflector_(
          client, clock, rng, job_.type,
          kube::ListOptions{.namespace_ = job_.namespace_,
                            .label_selector = {},
                            .field_selector = fmt::format("metadata.name={}", job_.name),
                            .resource_version = {},
                            .continue_ = {}},
          kube::Reflector::Sink{
              .begin_list = [] {},
              .listed = [this](const std::string&, const kube::ObjectPtr& object) { see(*object); },
              .end_list = [] {},
              .upsert = [this](const std::string&, const kube::ObjectPtr& object) { see(*object); },
              // A job that is deleted goes with its pods, this one among them.
              .erase = [](const std::string&) {}}) {}

void WantedNodes::see(const json::value& job) {
    // What a status does not say any more holds.
    Wanted now{.nodes = wanted_ranks(job, job_.node_types),
               .servers = wanted_ranks(job, {job_.server_type})};
    if (!now.nodes) now.nodes = wanted_.nodes;
    if (!now.servers) now.servers = wanted_.servers;
    if (now == wanted_) return;
    const auto tell = [](std::string_view what, std::string_view key,
                         const std::optional<WantedRanks>& before,
                         const std::optional<WantedRanks>& after) {
        if (before && before->number != after->number) log::info(what, {{key, after->number}});
    };
    tell("the job is to have another number of nodes", "nodes", wanted_.nodes, now.nodes);
    tell("the job is to have another number of parameter servers", "servers", wanted_.servers,
         now.servers);
    wanted_ = now;
    if (wake_) wake_();
}

std::unique_ptr<master::Service> WantedNodes::service(const master::ServiceContext& context) {
    return std::make_unique<Teller>(*this, context);
}

}  // namespace muster::master_process
