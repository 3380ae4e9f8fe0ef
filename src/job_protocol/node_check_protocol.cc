#include "job_protocol/node_check_protocol.h"

#include "job_protocol/internal/field_lists.h"

namespace muster::job_protocol {

job::Check to_wire(const Check& check) { return to_wire_form(check); }
Check from_wire(const job::Check& check) { return from_wire_form<Check>(check); }

job::CheckResult to_wire(const CheckResult& result) { return to_wire_form(result); }
CheckResult from_wire(const job::CheckResult& result) {
    return from_wire_form<CheckResult>(result);
}

}  // namespace muster::job_protocol
