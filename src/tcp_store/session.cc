#include "tcp_store/session.h"

#include <fmt/format.h>

namespace muster::tcp_store {
namespace {

constexpr std::uint8_t kReady = 0;
constexpr std::uint8_t kNotReady = 1;
constexpr std::uint8_t kWaitCancelled = 1;

void append_count(std::string& out, std::size_t count) {
    append_number(out, static_cast<std::int64_t>(count));
}

void set_all(StoreKeys& keys, StoreCommand command) {
    for (std::size_t i = 0; i < command.keys.size(); ++i)
        keys.set(command.keys[i], std::move(command.values[i]));
}

Result<void> add(StoreKeys& keys, const StoreCommand& command, std::string& out) {
    TRY(const std::int64_t sum, keys.add(command.keys[0], command.number));
    append_number(out, sum);
    return {};
}

/// Answers with the queue's length before, and the oldest element if there is one.
void pop(StoreKeys& keys, const std::string& queue, std::string& out) {
    append_count(out, keys.length(queue));
    if (const auto value = keys.pop(queue)) append_text(out, *value);
}

void list(const StoreKeys& keys, std::string& out) {
    const std::vector<std::string> names = keys.list();
    append_count(out, names.size());
    for (const std::string& name : names) append_text(out, name);
}

/// What the command may add to what is stored, as StoreKeys counts it.
std::size_t bytes_to_store(const StoreCommand& command) {
    std::size_t bytes = StoreKeys::kEntryBytes;
    for (const std::string& key : command.keys) bytes += key.size() + StoreKeys::kEntryBytes;
    for (const std::string& value : command.values) bytes += value.size();
    return bytes;
}

std::size_t bytes_to_answer(const StoreKeys& keys, const StoreCommand& command) {
    std::size_t bytes = 0;
    if (command.kind == StoreCommandKind::kListKeys)
        for (const std::string& name : keys.list()) bytes += sizeof(std::int64_t) + name.size();
    if (command.kind == StoreCommandKind::kGet || command.kind == StoreCommandKind::kMultiGet)
        for (const std::string& key : command.keys)
            bytes += sizeof(std::int64_t) + keys.get(key).size();
    return bytes;
}

bool stores(StoreCommandKind kind) {
    switch (kind) {
        case StoreCommandKind::kSet:
        case StoreCommandKind::kMultiSet:
        case StoreCommandKind::kCompareSet:
        case StoreCommandKind::kAdd:
        case StoreCommandKind::kAppend:
        case StoreCommandKind::kQueuePush:
        case StoreCommandKind::kWait:
        case StoreCommandKind::kBarrier:
            return true;
        default:
            return false;
    }
}

}  // namespace

Result<void> check_room(const StoreKeys& keys, const StoreCommand& command,
                        const StoreLimits& limits, std::size_t in_flight) {
    if (stores(command.kind)) {
        if (keys.entries() + command.keys.size() > limits.entries)
            return Error(Code::kTooLarge, fmt::format("the store has {} keys, and room for {}",
                                                      keys.entries(), limits.entries));
        if (keys.bytes() + bytes_to_store(command) > limits.bytes)
            return Error(Code::kTooLarge, fmt::format("the store has {} bytes, and room for {}",
                                                      keys.bytes(), limits.bytes));
    }
    const std::size_t answer = bytes_to_answer(keys, command);
    if (in_flight + answer > limits.in_flight)
        return Error(Code::kTooLarge,
                     fmt::format("an answer of {} bytes, while {} of at most {} are on their way",
                                 answer, in_flight, limits.in_flight));
    return {};
}

Result<void> answer(StoreKeys& keys, StoreKeys::Waiter client, StoreCommand command,
                    std::string& out) {
    switch (command.kind) {
        case StoreCommandKind::kValidate:
            return Error(Code::kBadRequest, "a connection is validated once");
        case StoreCommandKind::kPing:
            append_nonce(out, static_cast<std::uint32_t>(command.number));
            return {};
        case StoreCommandKind::kSet:
        case StoreCommandKind::kMultiSet:
            set_all(keys, std::move(command));
            return {};
        case StoreCommandKind::kCompareSet:
            append_text(out,
                        keys.compare_set(command.keys[0], command.values[0], command.values[1]));
            return {};
        case StoreCommandKind::kGet:
        case StoreCommandKind::kMultiGet:
            for (const std::string& key : command.keys) append_text(out, keys.get(key));
            return {};
        case StoreCommandKind::kAdd:
            return add(keys, command, out);
        case StoreCommandKind::kCheck:
            append_byte(out, keys.has_all(command.keys) ? kReady : kNotReady);
            return {};
        case StoreCommandKind::kWait:
            keys.wait(client, std::move(command.keys));
            return {};
        case StoreCommandKind::kGetNumKeys:
            append_count(out, keys.size());
            return {};
        case StoreCommandKind::kDeleteKey:
            append_number(out, keys.erase(command.keys[0]) ? 1 : 0);
            return {};
        case StoreCommandKind::kAppend:
            keys.append(command.keys[0], command.values[0]);
            return {};
        case StoreCommandKind::kCancelWait:
            keys.cancel(client);
            append_byte(out, kWaitCancelled);
            return {};
        case StoreCommandKind::kQueuePush:
            keys.push(command.keys[0], std::move(command.values[0]));
            return {};
        case StoreCommandKind::kQueuePop:
            pop(keys, command.keys[0], out);
            return {};
        case StoreCommandKind::kQueueLen:
            append_count(out, keys.length(command.keys[0]));
            return {};
        case StoreCommandKind::kListKeys:
            list(keys, out);
            return {};
        case StoreCommandKind::kBarrier:
            keys.arrive(client, command.keys[0], command.number);
            return {};
    }
    return Error(Code::kBadRequest, "there is no such command");
}

}  // namespace muster::tcp_store
