#include "agent/key_client.h"

#include <utility>

#include "master/key_protocol.h"

namespace muster::agent {
namespace {

Task<Result<master::KeyAnswer>> ask(rpc::Client& client, master::KeyRequest request,
                                    Duration time) {
    CO_TRY(const auto answer,
           co_await rpc::call(client, master::kKeys, master::to_wire(request), time));
    co_return master::from_wire(answer);
}

}  // namespace

Task<Result<void>> KeyClient::set(std::string key, std::string value, Duration time) {
    master::KeyRequest request{
        .space = space_, .what = master::SetKey{.key = std::move(key), .value = std::move(value)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<std::optional<std::string>>> KeyClient::get(std::string key, Duration time) {
    master::KeyRequest request{.space = space_, .what = master::GetKey{.key = std::move(key)}};
    CO_TRY(master::KeyAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return std::move(answer.value);
}

Task<Result<std::int64_t>> KeyClient::add(std::string key, std::int64_t amount, Duration time) {
    master::KeyRequest request{.space = space_,
                               .what = master::AddToKey{.key = std::move(key), .amount = amount}};
    CO_TRY(const master::KeyAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.number;
}

Task<Result<master::KeyAnswer>> KeyClient::compare_set(std::string key,
                                                       std::optional<std::string> expected,
                                                       std::string desired, Duration time) {
    master::KeyRequest request{
        .space = space_,
        .what = master::CompareSetKey{
            .key = std::move(key), .expected = std::move(expected), .desired = std::move(desired)}};
    return ask(*client_, std::move(request), time);
}

Task<Result<bool>> KeyClient::erase(std::string key, Duration time) {
    master::KeyRequest request{.space = space_, .what = master::DeleteKey{.key = std::move(key)}};
    CO_TRY(const master::KeyAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.yes;
}

Task<Result<void>> KeyClient::wait_for(std::vector<std::string> keys, Duration time) {
    master::KeyRequest request{.space = space_, .what = master::AwaitKeys{.keys = std::move(keys)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<void>> KeyClient::barrier(std::string name, Duration time) {
    master::KeyRequest request{.space = space_,
                               .what = master::EnterBarrier{.name = std::move(name)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<bool>> KeyClient::join(std::string point, Duration time) {
    master::KeyRequest request{.space = space_, .what = master::JoinSync{.name = std::move(point)}};
    CO_TRY(const master::KeyAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.yes;
}

Task<Result<void>> KeyClient::wait_for_all_at(std::string point, Duration time) {
    master::KeyRequest request{.space = space_,
                               .what = master::AwaitSync{.name = std::move(point)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

}  // namespace muster::agent
