#include "ask_master/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "base/parse_number.h"
#include "kube/values/read_json.h"

namespace muster::ask_master {
namespace {

namespace json = boost::json;

constexpr std::string_view kMaster = "DLROVER_MASTER_ADDR";
constexpr std::string_view kTfConfig = "TF_CONFIG";
constexpr std::string_view kContainer = "MUSTER_CONTAINER_START";
constexpr std::uint16_t kMasterPort = 50001;
constexpr std::size_t kLongestConfig = std::size_t{4} << 20;

using Environment = std::vector<std::string>;

std::string_view variable(const Environment& environment, std::string_view name) {
    for (const std::string_view entry : environment)
        if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
            return entry.substr(name.size() + 1);
    return {};
}

Error wrong(std::string_view name, std::string_view value, std::string_view why) {
    return {Code::kInvalid, fmt::format("{}={}: {}", name, value.substr(0, 200), why)};
}

Result<std::int32_t> number(const Environment& environment, std::string_view name,
                            std::int32_t otherwise) {
    const std::string_view text = variable(environment, name);
    if (text.empty()) return otherwise;
    const auto value = parse_number<std::int32_t>(text);
    if (!value || *value < 0) return wrong(name, text, "it must be a number from 0 on");
    return *value;
}

/// The part of TF_CONFIG that is of use here.
struct Cluster {
    bool has_chief = false;
    std::vector<std::string> servers;
};

/// Of what is not there, or no list of texts, nothing.
std::vector<std::string> addresses(const json::object& cluster, std::string_view type) {
    std::vector<std::string> all;
    const json::value* const found = cluster.if_contains(type);
    if (found == nullptr || !found->is_array()) return all;
    for (const json::value& address : found->get_array())
        if (address.is_string()) all.emplace_back(address.get_string());
    return all;
}

Result<Cluster> cluster_of(const Environment& environment) {
    const std::string_view text = variable(environment, kTfConfig);
    if (text.empty()) return Cluster();
    if (text.size() > kLongestConfig) return wrong(kTfConfig, text, "it is too long");
    const std::optional<json::value> config = kube::read_json(text);
    const json::object* const object = config ? config->if_object() : nullptr;
    const json::value* const cluster = object == nullptr ? nullptr : object->if_contains("cluster");
    if (cluster == nullptr || !cluster->is_object())
        return wrong(kTfConfig, text, "it must be a JSON object with a \"cluster\"");
    return Cluster{.has_chief = !addresses(cluster->get_object(), "chief").empty(),
                   .servers = addresses(cluster->get_object(), "ps")};
}

std::optional<std::int32_t> place_of(const job_protocol::PsAttendance& pod, bool has_chief) {
    if (pod.type == "chief") return pod.rank;
    if (pod.type == "worker") return pod.rank + (has_chief ? 1 : 0);
    return std::nullopt;
}

}  // namespace

void starts_container(std::vector<std::string>& environment, std::string_view name) {
    if (variable(environment, kContainer).empty())
        environment.push_back(fmt::format("{}={}", kContainer, name));
}

Result<Membership> membership_of(const std::vector<std::string>& environment) {
    const std::string_view address = variable(environment, kMaster);
    if (address.empty())
        return Error(Code::kInvalid, fmt::format("{} is not set: this process is in no pod of a "
                                                 "job with a master",
                                                 kMaster));
    const auto endpoint = launch::parse_endpoint(address, kMasterPort);
    if (!endpoint) return wrong(kMaster, address, "it must be HOST:PORT");
    const std::string job(variable(environment, "ELASTIC_JOB_NAME"));
    Membership found{.master = *endpoint,
                     .token = std::string(variable(environment, "MUSTER_TOKEN")),
                     .about = {},
                     .attendance = {}};
    while (found.token.ends_with('\n') || found.token.ends_with('\r')) found.token.pop_back();
    if (found.token.empty()) found.token = "run " + job;

    job_protocol::PsAttendance& pod = found.attendance;
    pod.container = variable(environment, kContainer);
    pod.type = variable(environment, "NODE_TYPE");
    if (pod.type.empty()) return Error(Code::kInvalid, "NODE_TYPE is not set");
    TRY(pod.id, number(environment, "NODE_ID", 0));
    TRY(pod.rank, number(environment, "NODE_RANK", pod.id));
    TRY(pod.places, number(environment, "NODE_NUM", 1));
    TRY(const Cluster cluster, cluster_of(environment));
    pod.servers = static_cast<std::int32_t>(cluster.servers.size());
    pod.place = place_of(pod, cluster.has_chief);
    if (pod.type == "ps") {
        if (pod.rank >= pod.servers)
            return wrong(kTfConfig, variable(environment, kTfConfig),
                         fmt::format("it has no parameter server of rank {}", pod.rank));
        pod.address = cluster.servers[static_cast<std::size_t>(pod.rank)];
    }
    found.about = fmt::format("{} {} of {}", pod.type, pod.rank, job);
    return found;
}

}  // namespace muster::ask_master
