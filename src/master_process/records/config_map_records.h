#pragma once

#include <cstdint>
#include <string>

#include "base/time/clock.h"
#include "kube/client/client.h"
#include "master/records.h"

namespace muster::master_process {

/// A job's record in one ConfigMap, replaced by compare-and-set: whoever writes names the version
/// that it has read. The object exists already; the operator makes it, empty, with the job. The
/// record is in `binaryData.record`, and what people may want to know of it in `data`; anything else
/// in the object stays as it is.
///
/// Of two masters one claims last, and the other's next write is refused: it finds a newer epoch. A
/// write whose answer was lost finds its own epoch, and is repeated. A record that would be too large
/// for an object loses its oldest incidents (bounded_record.h). One that someone has damaged is told
/// in the log, and replaced: what was in it is lost, and the job is not.
///
/// Each request ends after kRequestTime (in_time.h). Nothing is repeated that may wait for long: that is up to
/// the caller. Client and clock outlive this; one call at a time. Thread: the client's.
class ConfigMapRecords final : public master::Records {
  public:
    /// Of the record; the API accepts 1 MiB in an object of this kind.
    static constexpr std::size_t kMostBytes = std::size_t{768} << 10;

    /// `first`: the epoch to claim if there is no record; otherwise, and in the place of a damaged one,
    /// the claimed epoch is above both.
    /// Pass a time, so that epochs rise even if the object was made again.
    ConfigMapRecords(kube::Client& client, Clock& clock, std::string ns, std::string name,
                     std::uint64_t first = 1);

    /// kNotFound: the object does not exist. kUnavailable: others claim it again and again.
    Task<Result<job_protocol::JobRecord>> claim() override;
    Task<Result<void>> write(job_protocol::JobRecord record) override;

  private:
    struct Kept {
        kube::ObjectPtr object;
        bool damaged = false;  ///< the record is that of a new job then
        job_protocol::JobRecord record = {};
    };
    Task<Result<Kept>> read();
    Task<Result<kube::ObjectPtr>> replace(kube::ObjectPtr object, job_protocol::JobRecord record);
    std::string place() const;

    kube::Client& client_;
    Clock& clock_;
    std::string namespace_;
    std::string name_;
    std::uint64_t first_;
    kube::ObjectPtr object_;  ///< as this master has left it; null: it has to be read
};

/// The object with that record in it: binaryData.record, and in data the epoch and how the job ended.
json::value with_record(const json::value& object, const job_protocol::JobRecord& record);
/// The record in an object; its epoch is 0 if there is none. kInvalid names the field.
Result<job_protocol::JobRecord> record_in(const json::value& object);

}  // namespace muster::master_process
