#include "job_protocol/kv_protocol.h"

#include "job_protocol/internal/field_lists.h"

namespace muster::job_protocol {

job::KvRequest to_wire(const KvRequest& request) { return to_wire_form(request); }
Result<KvRequest> from_wire(const job::KvRequest& request) {
    if (request.what_case() == job::KvRequest::WHAT_NOT_SET)
        return Error(Code::kBadRequest,
                     "something is asked about keys that this version does not know");
    return from_wire_form<KvRequest>(request);
}

job::KvAnswer to_wire(const KvAnswer& answer) { return to_wire_form(answer); }
KvAnswer from_wire(const job::KvAnswer& answer) { return from_wire_form<KvAnswer>(answer); }

}  // namespace muster::job_protocol
