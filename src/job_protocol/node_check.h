#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace muster::job_protocol {

/// Whom an agent connects to in the check of nodes.
struct CheckPeer {
    std::string incarnation;
    std::string address;
    int port = 0;  ///< at which its agent answers probes

    friend bool operator==(const CheckPeer&, const CheckPeer&) = default;
};

/// The node is to be measured, before anything runs on it.
struct Check {
    std::uint64_t epoch = 0;  ///< with the round it tells one check from another
    int round = 0;
    bool compute = true;  ///< its processor and its memory
    std::vector<CheckPeer> dials = {};
    bool thorough = false;    ///< links are measured for longer
    std::string secret = {};  ///< by which the agents of one check know each other
    std::chrono::milliseconds limit =
        std::chrono::seconds(10);  ///< what is not known by then is reported as that

    friend bool operator==(const Check&, const Check&) = default;
};

/// Of one link, by the node that connected.
struct LinkFigures {
    std::string peer;          ///< its incarnation
    std::string trouble = {};  ///< why it does not work; empty: it does
    Duration round_trip = {};
    double bytes_out = 0;  ///< a second
    double bytes_in = 0;   ///< a second

    friend bool operator==(const LinkFigures&, const LinkFigures&) = default;
};

/// What a node found.
struct CheckResult {
    std::uint64_t epoch = 0;
    int round = 0;
    double flops = 0;         ///< a second, of one core; 0: it was not asked for
    double memory_bytes = 0;  ///< a second, read and written
    std::vector<LinkFigures> links = {};
    std::string trouble = {};  ///< of the node itself: it can't be used

    friend bool operator==(const CheckResult&, const CheckResult&) = default;
};

}  // namespace muster::job_protocol
