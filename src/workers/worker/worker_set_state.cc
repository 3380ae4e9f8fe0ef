#include "workers/worker/worker_set_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>

#include "base/text_files.h"
#include "base/unique_fd.h"

namespace muster::workers {

namespace json = boost::json;

std::string write_worker_set_state(const WorkerSetState& record) {
    json::array members;
    for (const job_protocol::Member& member : record.world.members)
        members.push_back(json::object{{"slot", member.slot},
                                       {"incarnation", member.incarnation},
                                       {"address", member.address},
                                       {"local_size", member.local_size},
                                       {"first_rank", member.first_rank},
                                       {"group_rank", member.group_rank},
                                       {"store_port", member.store_port}});
    json::array workers;
    for (const WorkerRecord& worker : record.workers)
        workers.push_back(json::object{{"local_rank", worker.local_rank},
                                       {"rank", worker.rank},
                                       {"socket", worker.socket},
                                       {"progress", worker.progress},
                                       {"error_file", worker.error_file},
                                       {"group", worker.group}});
    return json::serialize(json::object{{"epoch", record.world.generation.epoch},
                                        {"number", record.world.generation.number},
                                        {"restarts", record.world.restarts},
                                        {"nodes", record.world.nodes},
                                        {"ranks", record.world.ranks},
                                        {"own_rank", record.world.own_rank},
                                        {"members", std::move(members)},
                                        {"workers", std::move(workers)}});
}

namespace {

template <class Number>
Number number(const json::value& value, std::string_view key) {
    return value.at(key).to_number<Number>();
}

std::string text(const json::value& value, std::string_view key) {
    return std::string(value.at(key).as_string());
}

}  // namespace

Result<WorkerSetState> parse_worker_set_state(std::string_view bytes) {
    try {
        const json::value root = json::parse(bytes);
        WorkerSetState record;
        record.world.generation = {.epoch = number<std::uint64_t>(root, "epoch"),
                                   .number = number<std::uint64_t>(root, "number")};
        record.world.restarts = number<int>(root, "restarts");
        record.world.nodes = number<int>(root, "nodes");
        record.world.ranks = number<int>(root, "ranks");
        record.world.own_rank = number<int>(root, "own_rank");
        for (const json::value& member : root.at("members").as_array()) {
            job_protocol::Member one;
            one.slot = number<job_protocol::Slot>(member, "slot");
            one.incarnation = text(member, "incarnation");
            one.address = text(member, "address");
            one.local_size = number<int>(member, "local_size");
            one.first_rank = number<int>(member, "first_rank");
            one.group_rank = number<int>(member, "group_rank");
            one.store_port = number<int>(member, "store_port");
            record.world.members.push_back(std::move(one));
        }
        if (record.world.members.empty())
            return Error(Code::kInvalid, "the record of the workers has a world without members");
        for (const json::value& worker : root.at("workers").as_array())
            record.workers.push_back({.local_rank = number<int>(worker, "local_rank"),
                                      .rank = number<int>(worker, "rank"),
                                      .socket = text(worker, "socket"),
                                      .progress = text(worker, "progress"),
                                      .error_file = text(worker, "error_file"),
                                      .group = text(worker, "group")});
        return record;
    } catch (const std::exception& error) {
        return Error(Code::kInvalid, fmt::format("the record of the workers: {}", error.what()));
    }
}

Result<void> save_worker_set_state(const std::filesystem::path& directory,
                                   const WorkerSetState& record) {
    const std::filesystem::path path = directory / kWorkerSetStateName;
    const std::filesystem::path draft = path.string() + ".new";
    const std::string bytes = write_worker_set_state(record);
    {
        const UniqueFd file(
            ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (!file) return system_error("making " + draft.string(), errno);
        const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
        if (written != static_cast<ssize_t>(bytes.size())) {
            const int error = written < 0 ? errno : ENOSPC;
            ::unlink(draft.c_str());
            return system_error("writing " + draft.string(), error);
        }
    }
    if (::rename(draft.c_str(), path.c_str()) < 0)
        return system_error("renaming " + draft.string(), errno);
    return {};
}

Result<std::optional<WorkerSetState>> load_worker_set_state(
    const std::filesystem::path& directory) {
    const std::filesystem::path path = directory / kWorkerSetStateName;
    if (::access(path.c_str(), F_OK) < 0) return std::nullopt;
    TRY(const std::string bytes, read_text(path));
    TRY(WorkerSetState record, parse_worker_set_state(bytes));
    return std::optional(std::move(record));
}

}  // namespace muster::workers
