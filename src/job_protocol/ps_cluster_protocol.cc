#include "job_protocol/ps_cluster_protocol.h"

#include "job_protocol/internal/field_lists.h"

namespace muster::job_protocol {

job::PsAttendance to_wire(const PsAttendance& attendance) { return to_wire_form(attendance); }
PsAttendance from_wire(const job::PsAttendance& attendance) {
    return from_wire_form<PsAttendance>(attendance);
}

job::PsCluster to_wire(const PsCluster& cluster) { return to_wire_form(cluster); }
PsCluster from_wire(const job::PsCluster& cluster) { return from_wire_form<PsCluster>(cluster); }

job::VersionRequest to_wire(const VersionRequest& request) { return to_wire_form(request); }
VersionRequest from_wire(const job::VersionRequest& request) {
    return from_wire_form<VersionRequest>(request);
}

job::VersionAnswer to_wire(const VersionAnswer& answer) { return to_wire_form(answer); }
VersionAnswer from_wire(const job::VersionAnswer& answer) {
    return from_wire_form<VersionAnswer>(answer);
}

}  // namespace muster::job_protocol
