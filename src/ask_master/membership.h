#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job_protocol/ps_cluster.h"
#include "launch/endpoint.h"

namespace muster::ask_master {

/// Which pod of which job a program is in, as the variables of its pod say.
struct Membership {
    launch::Endpoint master;
    std::string token;
    std::string about;  ///< for people: "worker 1 of ctr"
    job_protocol::PsAttendance attendance;
};

/// For the first command of a container: all that it starts is known by `name`, which is unique to this
/// start, as part of one server. A name that is there stays: the command is not the first.
void starts_container(std::vector<std::string>& environment, std::string_view name);

/// From an environment of "NAME=VALUE": DLROVER_MASTER_ADDR, MUSTER_TOKEN, ELASTIC_JOB_NAME,
/// NODE_TYPE, NODE_ID, NODE_RANK, NODE_NUM and TF_CONFIG, as an ElasticJob's pods have them, and
/// what starts_container() adds. Without a token it is made of the name of the job, as its master
/// makes it.
///
/// The chief is the first of those who meet, the workers follow; parameter servers and evaluators meet
/// no one. A parameter server is reached at the address that TF_CONFIG has for its rank.
///
/// kInvalid names the variable that is missing or can't be.
Result<Membership> membership_of(const std::vector<std::string>& environment);

}  // namespace muster::ask_master
