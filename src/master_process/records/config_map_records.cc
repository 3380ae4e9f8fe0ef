#include "master_process/records/config_map_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "job_protocol/protocol.h"
#include "kube/values/base64.h"
#include "kube/values/document.h"
#include "kube/values/json_access.h"
#include "master_process/records/bounded_record.h"
#include "master_process/records/in_time.h"

namespace muster::master_process {
namespace {

using job_protocol::JobRecord;

constexpr std::string_view kRecordKey = "record";
/// Far beyond any time: a later one could not be followed by another.
constexpr std::uint64_t kLastEpoch = std::uint64_t{1} << 62;
/// Writes that find another version of the object, which they have to read before the next one.
constexpr int kTries = 8;

std::string how_it_ended(const job_protocol::Verdict& end) {
    return fmt::format("{}: {}",
                       end.kind == job_protocol::Verdict::Kind::kSucceeded ? "succeeded" : "failed",
                       end.text);
}

/// Texts of an object are UTF-8.
std::string printable(std::string text) {
    constexpr std::size_t kMost = 1024;
    if (text.size() > kMost) text.resize(kMost);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    return text;
}

}  // namespace

json::value with_record(const json::value& object, const JobRecord& record) {
    json::value made = kube::copy_of(object);
    json::object& fields = made.as_object();
    const auto object_at = [&](std::string_view key) -> json::object& {
        json::value& value = fields[key];
        return value.is_object() ? value.as_object() : value.emplace_object();
    };
    object_at("binaryData")[kRecordKey] =
        kube::base64_encode(job_protocol::to_wire(record).SerializeAsString());
    json::object& data = object_at("data");
    data["epoch"] = std::to_string(record.epoch);
    if (record.end)
        data["end"] = printable(how_it_ended(*record.end));
    else
        data.erase("end");
    return made;
}

Result<JobRecord> record_in(const json::value& object) {
    const json::value* const data =
        object.is_object() ? object.get_object().if_contains("binaryData") : nullptr;
    const json::value* const text =
        data != nullptr && data->is_object() ? data->get_object().if_contains(kRecordKey) : nullptr;
    if (text == nullptr) return JobRecord();
    const auto bytes = text->is_string() ? kube::base64_decode(std::string_view(text->get_string()))
                                         : std::nullopt;
    job::JobRecord wire;
    const Error bad(Code::kInvalid, "binaryData.record is no job's record");
    if (!bytes || !wire.ParseFromString(*bytes)) return bad;
    auto record = job_protocol::from_wire(wire);
    if (!record || record->epoch > kLastEpoch) return bad;
    return *std::move(record);
}

ConfigMapRecords::ConfigMapRecords(kube::Client& client, Clock& clock, std::string ns,
                                   std::string name, std::uint64_t first)
    : client_(client),
      clock_(clock),
      namespace_(std::move(ns)),
      name_(std::move(name)),
      first_(first) {}

std::string ConfigMapRecords::place() const {
    return fmt::format("ConfigMap {}/{}", namespace_, name_);
}

Task<Result<ConfigMapRecords::Kept>> ConfigMapRecords::read() {
    auto found = co_await in_time(clock_, client_.get(kube::types::kConfigMaps, namespace_, name_));
    if (!found && found.error().code() == Code::kNotFound)
        co_return Error(Code::kNotFound,
                        place() + " does not exist: the operator makes it, with the job");
    if (!found) co_return std::move(found).error().prefix(place());
    auto record = record_in(**found);
    Kept kept{.object = *std::move(found), .damaged = !record};
    if (record)
        kept.record = *std::move(record);
    else
        log::warning(
            "the job's record was damaged, and is replaced: failures that were counted and "
            "nodes that were excluded are forgotten",
            {{"where", place()}, {"error", record.error().message()}});
    co_return std::move(kept);
}

Task<Result<kube::ObjectPtr>> ConfigMapRecords::replace(kube::ObjectPtr object, JobRecord record) {
    json::value made = with_record(*object, within_bytes(std::move(record), kMostBytes));
    CO_TRY(kube::Written written,
           co_await in_time(clock_, client_.update(kube::types::kConfigMaps, namespace_, name_,
                                                   std::move(made))));
    co_return std::move(written.object);
}

Task<Result<JobRecord>> ConfigMapRecords::claim() {
    for (int tries = 0; tries < kTries; ++tries) {
        object_.reset();
        CO_TRY(Kept kept, co_await read());
        std::uint64_t& epoch = kept.record.epoch;
        const bool is_first = epoch == 0 && !kept.damaged;
        epoch = is_first ? first_ : std::max(epoch, first_) + 1;
        auto written = co_await replace(kept.object, kept.record);
        if (written) {
            object_ = *std::move(written);
            co_return std::move(kept.record);
        }
        if (written.error().code() != Code::kConflict)
            co_return std::move(written).error().prefix(place());
    }
    co_return Error(Code::kUnavailable,
                    place() + " is written by others again and again; is there another master?");
}

Task<Result<void>> ConfigMapRecords::write(JobRecord record) {
    for (int tries = 0; tries < kTries; ++tries) {
        if (!object_) {
            CO_TRY(Kept kept, co_await read());
            if (kept.record.epoch > record.epoch)
                co_return Error(Code::kConflict,
                                fmt::format("epoch {} has ended: epoch {} was claimed",
                                            record.epoch, kept.record.epoch));
            object_ = std::move(kept.object);
        }
        auto written = co_await replace(std::exchange(object_, nullptr), record);
        if (written) {
            object_ = *std::move(written);
            co_return Result<void>();
        }
        // Another master, someone who labels the object, or this one's own write, of which it heard
        // nothing.
        const Code code = written.error().code();
        if (code != Code::kConflict && code != Code::kNotFound)
            co_return std::move(written).error().prefix(place());
    }
    co_return Error(Code::kUnavailable, place() + " is written by others again and again");
}

}  // namespace muster::master_process
