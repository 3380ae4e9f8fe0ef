#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "job_protocol/kv_requests.h"
#include "job_protocol/ps_cluster.h"

namespace muster::ask_master {

// The lines between a program and its connection: one JSON object each. Bytes of values are in
// hexadecimal digits.
//
// | question | answer |
// |---|---|
// | {"id": 1, "ask": "set", "key": K, "value": HEX} | {"id": 1} |
// | {"id": 1, "ask": "get", "key": K} | {"id": 1, "value": HEX or null} |
// | {"id": 1, "ask": "add", "key": K, "amount": N} | {"id": 1, "number": SUM} |
// | {"id": 1, "ask": "delete", "key": K} | {"id": 1, "yes": whether there was one} |
// | {"id": 1, "ask": "wait", "keys": [K, ...]} | {"id": 1}, when all exist |
// | {"id": 1, "ask": "barrier", "name": N} | {"id": 1}, when all are there |
// | {"id": 1, "ask": "join", "name": N} | {"id": 1, "yes": whether all have joined} |
// | {"id": 1, "ask": "joined", "name": N} | {"id": 1}, when all have joined |
// | {"id": 1, "ask": "version", "kind": "global", "local" or "restored", "type": T, "rank": N, "set": V} | {"id": 1, "number": V} |
//
// Each question may have "seconds", after which it is given up; 300 if it has not. Without "set" a version
// is asked for. An answer may be {"id": 1, "error": TEXT, "code": "timeout", "gone" or "error"} instead.
//
// Without a question come {"cluster": {"version": V, "servers": [...], "complete": B}} for each cluster,
// and {"trouble": TEXT} while the master can't be reached.

/// What a program asks.
struct Question {
    std::int64_t id = 0;
    Duration time = {};
    /// What needs no epoch, which only the connection knows.
    using Key = decltype(job_protocol::KvRequest::what);
    std::variant<Key, job_protocol::VersionRequest> what;
};

/// Whether it is about a barrier or a point.
bool is_meeting(const Question::Key& key);

/// kBadRequest: it is none of the above.
Result<Question> read_question(std::string_view line);

/// Each with its new line.
std::string answer_line(const Question& question, const Result<job_protocol::KvAnswer>& answer);
std::string answer_line(const Question& question,
                        const Result<job_protocol::VersionAnswer>& answer);
/// For a question that could not be read; trouble_line() if it has no id.
std::string refusal_line(std::string_view question, const Error& why);
std::string cluster_line(const job_protocol::PsCluster& cluster);
std::string trouble_line(std::string_view text);

}  // namespace muster::ask_master
