#include "job_protocol/kv_protocol.h"

#include <utility>

namespace muster::job_protocol {
namespace {

void put(const SetKey& what, job::KvRequest& out) {
    out.mutable_set()->set_key(what.key);
    out.mutable_set()->set_value(what.value);
}
void put(const GetKey& what, job::KvRequest& out) { out.mutable_get()->set_key(what.key); }
void put(const AddToKey& what, job::KvRequest& out) {
    out.mutable_add()->set_key(what.key);
    out.mutable_add()->set_amount(what.amount);
}
void put(const CompareSetKey& what, job::KvRequest& out) {
    job::CompareSetKey& one = *out.mutable_compare_set();
    one.set_key(what.key);
    if (what.expected) one.set_expected(*what.expected);
    one.set_desired(what.desired);
}
void put(const DeleteKey& what, job::KvRequest& out) { out.mutable_delete_()->set_key(what.key); }
void put(const AwaitKeys& what, job::KvRequest& out) {
    job::AwaitKeys& one = *out.mutable_await_keys();
    for (const std::string& key : what.keys) one.add_keys(key);
}
void put(const EnterBarrier& what, job::KvRequest& out) {
    out.mutable_enter_barrier()->set_name(what.name);
}
void put(const JoinSyncPoint& what, job::KvRequest& out) {
    out.mutable_join_sync()->set_name(what.name);
}
void put(const AwaitSyncPoint& what, job::KvRequest& out) {
    out.mutable_await_sync()->set_name(what.name);
}

CompareSetKey taken(const job::CompareSetKey& what) {
    CompareSetKey out{.key = what.key(), .expected = {}, .desired = what.desired()};
    if (what.has_expected()) out.expected = what.expected();
    return out;
}

}  // namespace

job::KvRequest to_wire(const KvRequest& request) {
    job::KvRequest out;
    job::KvSpace& space = *out.mutable_space();
    space.set_epoch(request.space.epoch);
    if (request.space.generation) {
        space.mutable_generation()->set_epoch(request.space.generation->epoch);
        space.mutable_generation()->set_number(request.space.generation->number);
    }
    std::visit([&out](const auto& what) { put(what, out); }, request.what);
    return out;
}

Result<KvRequest> from_wire(const job::KvRequest& request) {
    KvRequest out;
    out.space.epoch = request.space().epoch();
    if (request.space().has_generation())
        out.space.generation = Generation{.epoch = request.space().generation().epoch(),
                                          .number = request.space().generation().number()};
    switch (request.what_case()) {
        case job::KvRequest::kSet:
            out.what = SetKey{.key = request.set().key(), .value = request.set().value()};
            return out;
        case job::KvRequest::kGet:
            out.what = GetKey{.key = request.get().key()};
            return out;
        case job::KvRequest::kAdd:
            out.what = AddToKey{.key = request.add().key(), .amount = request.add().amount()};
            return out;
        case job::KvRequest::kCompareSet:
            out.what = taken(request.compare_set());
            return out;
        case job::KvRequest::kDelete:
            out.what = DeleteKey{.key = request.delete_().key()};
            return out;
        case job::KvRequest::kAwaitKeys:
            out.what = AwaitKeys{
                .keys = {request.await_keys().keys().begin(), request.await_keys().keys().end()}};
            return out;
        case job::KvRequest::kEnterBarrier:
            out.what = EnterBarrier{.name = request.enter_barrier().name()};
            return out;
        case job::KvRequest::kJoinSync:
            out.what = JoinSyncPoint{.name = request.join_sync().name()};
            return out;
        case job::KvRequest::kAwaitSync:
            out.what = AwaitSyncPoint{.name = request.await_sync().name()};
            return out;
        case job::KvRequest::WHAT_NOT_SET:
            break;
    }
    return Error(Code::kBadRequest,
                 "something is asked about keys that this version does not know");
}

job::KvAnswer to_wire(const KvAnswer& answer) {
    job::KvAnswer out;
    if (answer.value) out.set_value(*answer.value);
    out.set_number(answer.number);
    out.set_yes(answer.yes);
    return out;
}

KvAnswer from_wire(const job::KvAnswer& answer) {
    KvAnswer out{.value = {}, .number = answer.number(), .yes = answer.yes()};
    if (answer.has_value()) out.value = answer.value();
    return out;
}

}  // namespace muster::job_protocol
