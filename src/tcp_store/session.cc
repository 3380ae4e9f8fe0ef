#include "tcp_store/session.h"

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

}  // namespace

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
