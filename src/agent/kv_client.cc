#include "agent/kv_client.h"

#include <utility>

#include "job_protocol/kv_protocol.h"

namespace muster::agent {
namespace {

Task<Result<job_protocol::KvAnswer>> ask(rpc::Client& client, job_protocol::KvRequest request,
                                         Duration time) {
    CO_TRY(const auto answer,
           co_await rpc::call(client, job_protocol::kKv, job_protocol::to_wire(request), time));
    co_return job_protocol::from_wire(answer);
}

}  // namespace

Task<Result<void>> KvClient::set(std::string key, std::string value, Duration time) {
    job_protocol::KvRequest request{
        .space = space_,
        .what = job_protocol::SetKey{.key = std::move(key), .value = std::move(value)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<std::optional<std::string>>> KvClient::get(std::string key, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::GetKey{.key = std::move(key)}};
    CO_TRY(job_protocol::KvAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return std::move(answer.value);
}

Task<Result<std::int64_t>> KvClient::add(std::string key, std::int64_t amount, Duration time) {
    job_protocol::KvRequest request{
        .space = space_, .what = job_protocol::AddToKey{.key = std::move(key), .amount = amount}};
    CO_TRY(const job_protocol::KvAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.number;
}

Task<Result<job_protocol::KvAnswer>> KvClient::compare_set(std::string key,
                                                           std::optional<std::string> expected,
                                                           std::string desired, Duration time) {
    job_protocol::KvRequest request{
        .space = space_,
        .what = job_protocol::CompareSetKey{
            .key = std::move(key), .expected = std::move(expected), .desired = std::move(desired)}};
    return ask(*client_, std::move(request), time);
}

Task<Result<bool>> KvClient::erase(std::string key, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::DeleteKey{.key = std::move(key)}};
    CO_TRY(const job_protocol::KvAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.yes;
}

Task<Result<void>> KvClient::wait_for(std::vector<std::string> keys, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::AwaitKeys{.keys = std::move(keys)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<void>> KvClient::barrier(std::string name, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::EnterBarrier{.name = std::move(name)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

Task<Result<bool>> KvClient::join(std::string point, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::JoinSyncPoint{.name = std::move(point)}};
    CO_TRY(const job_protocol::KvAnswer answer, co_await ask(*client_, std::move(request), time));
    co_return answer.yes;
}

Task<Result<void>> KvClient::wait_for_all_at(std::string point, Duration time) {
    job_protocol::KvRequest request{.space = space_,
                                    .what = job_protocol::AwaitSyncPoint{.name = std::move(point)}};
    CO_TRY_VOID(co_await ask(*client_, std::move(request), time));
    co_return Result<void>();
}

}  // namespace muster::agent
