#include "master_process/records/bounded_record.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "job_protocol/protocol.h"

namespace muster::master_process {
namespace {

using job_protocol::JobRecord;

/// Of a text that has to be shortened: an error's first lines say what it is.
constexpr std::size_t kLongestText = 4096;

std::size_t size_of(const JobRecord& record) {
    return job_protocol::to_wire(record).ByteSizeLong();
}

/// What one element of a list takes in the record.
template <class T>
std::size_t share_of(std::vector<T> JobRecord::* list, const T& element) {
    JobRecord alone{.epoch = 1};
    const std::size_t nothing = size_of(alone);
    (alone.*list).push_back(element);
    return size_of(alone) - nothing;
}

/// Takes elements from the front of the list until the rest fits; the last `kept` stay.
template <class T>
void drop_first(JobRecord& record, std::vector<T> JobRecord::* list, std::size_t kept,
                std::size_t most) {
    std::vector<T>& all = record.*list;
    std::size_t size = size_of(record);
    std::size_t dropped = 0;
    while (size > most && dropped + kept < all.size()) size -= share_of(list, all[dropped++]);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dropped));
}

void shorten(std::string& text) {
    if (text.size() > kLongestText) text.resize(kLongestText);
}

void shorten_texts(JobRecord& record) {
    for (job_protocol::Incident& incident : record.incidents) shorten(incident.error);
    if (!record.end) return;
    shorten(record.end->text);
    if (record.end->cause) shorten(record.end->cause->error);
}

}  // namespace

JobRecord within_bytes(JobRecord record, std::size_t most) {
    if (size_of(record) <= most) return record;
    drop_first(record, &JobRecord::incidents, 1, most);
    if (size_of(record) <= most) return record;
    shorten_texts(record);
    drop_first(record, &JobRecord::excluded, 0, most);
    return record;
}

}  // namespace muster::master_process
