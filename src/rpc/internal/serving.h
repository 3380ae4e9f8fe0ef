#pragma once

#include <muster/rpc/frame.pb.h>

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "base/async/stop.h"
#include "base/async/task_group.h"
#include "rpc/internal/kept_answers.h"
#include "rpc/server.h"

namespace muster::rpc {

class ServerConnection;

/// A client process as the server knows it. It outlives its connections, so that answers can wait
/// for the client; clients that have been away for long are forgotten.
struct Caller {
    Caller(std::string its_name, std::size_t calls) : name(std::move(its_name)), kept(calls) {}

    std::string name;
    KeptAnswers kept;
    std::map<std::uint64_t, std::shared_ptr<Stop>> running;
    ServerConnection* connection = nullptr;  ///< the newest, if any
    std::uint64_t newest = 0;                ///< its number, counted by the client
    Instant left{};                          ///< since when there is none
};

/// What all connections of a server share.
struct Serving {
    Serving(const asio::any_io_executor& its_executor, Clock& its_clock, Server::Options given)
        : executor(its_executor), clock(its_clock), options(std::move(given)), calls(executor) {}

    const ServerLimits& limits() const { return options.limits; }

    asio::any_io_executor executor;
    Clock& clock;
    Server::Options options;
    std::unordered_map<std::string, Server::Handler> call_handlers;
    std::unordered_map<std::string, Server::StreamHandler> stream_handlers;
    std::unordered_map<std::string, Server::NoteHandler> note_handlers;
    Server::GoneHandler gone;
    std::unordered_map<std::string, std::shared_ptr<Caller>> callers;
    std::size_t admitted = 0;       ///< connections that have shown the token
    std::set<std::string> told_of;  ///< hosts from which clients of torch's store have come
    bool stopping = false;
    TaskGroup calls;  ///< handlers of calls; they continue without a connection
};

/// Starts the handler of a new call; keeps its answer, and sends it over the connection that its
/// caller has by then.
void start_call(Serving& serving, const std::shared_ptr<Caller>& caller, PeerPtr peer,
                wire::Call call, const Server::Handler& handler);

/// How long its caller waits for it.
Duration time_of(const wire::Call& call);

/// The answer to a call, or a failure instead if the answer is longer than a frame may be.
wire::Frame answer_frame(std::uint64_t id, Result<std::string> outcome, std::size_t longest);

/// The result of `work`, or an error if it is cancelled first: by `stop`, or when its time is over
/// (zero: no limit).
Task<Result<std::string>> until_stopped(Clock& clock, std::shared_ptr<Stop> stop, Duration time,
                                        Task<Result<std::string>> work);

}  // namespace muster::rpc
