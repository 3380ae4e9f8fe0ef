#include "cli/internal/record/notification.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/visible_text.h"
#include "cli/internal/run/event_text.h"
#include "kube/client_config/server_url.h"
#include "kube/values/json.h"
#include "kube/values/time.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
/// Of the lines that say why, for the text; the list has all.
constexpr std::size_t kShownLines = 12;

double seconds_of(const RunRecord& record) {
    return std::chrono::duration<double>(record.end->at - record.started).count();
}

std::string text_of(const RunRecord& record, std::string_view machine) {
    const RunEnd& end = *record.end;
    const std::string name = record.name.empty() && !record.subjects.empty()
                                 ? record.subjects.front().name
                                 : record.name;
    std::string text = fmt::format("{} {} on {} after {}", name, end.result, machine,
                                   tell_duration(seconds_of(record)));
    if (end.status != 0) {
        text += fmt::format(" (exit status {})", end.status);
        for (std::size_t i = 0; i < std::min(end.why.size(), kShownLines); ++i)
            text += "\n" + end.why[i];
    }
    return visible_text(text);
}

}  // namespace

bool is_notification_url(std::string_view text) {
    return text.starts_with(kHttp) || text.starts_with(kHttps);
}

Result<NotificationUrl> notification_url(std::string_view text) {
    NotificationUrl url;
    url.tls = text.starts_with(kHttps);
    url.port = url.tls ? 443 : 80;
    std::string_view rest = text.substr(url.tls ? kHttps.size() : kHttp.size());
    const std::size_t path = rest.find_first_of("/?");
    const std::string_view authority = rest.substr(0, path);
    if (std::ranges::any_of(text, [](char c) { return c <= ' ' || c == '\x7f'; }) ||
        authority.find('@') != authority.npos || text.find('#') != text.npos)
        return Error(Code::kInvalid, "a URL has no blanks, and this one no user and no \"#\"");
    url.authority = authority;
    url.target = path == rest.npos ? "/" : std::string(rest.substr(path));
    if (url.target.front() == '?') url.target.insert(0, "/");
    TRY(const kube::HostPort place, kube::parse_host_port(authority));
    url.host = place.host;
    url.port = place.port.value_or(url.port);
    return url;
}

std::string notification_body(const RunRecord& record, std::string_view machine) {
    json::array jobs;
    for (const RunSubject& subject : record.subjects)
        jobs.emplace_back(json::object{
            {"kind", subject.kind}, {"namespace", subject.namespace_}, {"name", subject.name}});
    json::array why;
    for (const std::string& line : record.end->why) why.emplace_back(line);
    const json::object body{{"text", text_of(record, machine)},
                            {"run", record.name},
                            {"jobs", std::move(jobs)},
                            {"result", record.end->result},
                            {"exitStatus", record.end->status},
                            {"started", kube::format_time(record.started)},
                            {"ended", kube::format_time(record.end->at)},
                            {"seconds", seconds_of(record)},
                            {"restarts", record.end->restarts},
                            {"why", std::move(why)},
                            {"machine", machine}};
    return json::serialize(body);
}

}  // namespace muster::cli
