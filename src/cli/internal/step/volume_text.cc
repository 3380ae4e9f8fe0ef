#include "cli/internal/step/volume_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "cli/internal/step/entry_text.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::cli {

namespace {

constexpr std::string_view kVolumeKinds =
    "pvc, pvc-share, storage, nfs, hostpath, configmap, secret or memory";
constexpr std::string_view kSharedMemory = "/dev/shm";
constexpr std::string_view kLocalTime = "/etc/localtime";
constexpr std::string_view kZones = "/usr/share/zoneinfo/";
constexpr std::size_t kLongestHint = 50;  ///< of a source in a volume's name; a number may follow

struct Entry {
    std::string source;
    std::string kind;
    std::string path;
};

Error refused_entry(std::string_view entry, std::string_view what) {
    return {Code::kInvalid, fmt::format("\"{}\" {}", entry, what)};
}

Result<Entry> read_entry(std::string_view text) {
    constexpr std::string_view kForm = ": write source(kind):path, as in data(pvc):/mnt";
    const std::size_t open = text.find('(');
    const std::size_t close = open == text.npos ? open : text.find(')', open);
    if (close == text.npos)
        return refused_entry(text, fmt::format("does not say its kind{}", kForm));
    const std::string_view after = trimmed(text.substr(close + 1));
    if (!after.starts_with(':')) return refused_entry(text, fmt::format("has no path{}", kForm));
    Entry entry{.source = std::string(trimmed(text.substr(0, open))),
                .kind = std::string(trimmed(text.substr(open + 1, close - open - 1))),
                .path = std::string(trimmed(after.substr(1)))};
    if (entry.source.empty()) return refused_entry(text, fmt::format("has no source{}", kForm));
    if (!entry.path.starts_with('/') || entry.path.contains(':') || entry.path.contains(".."))
        return refused_entry(text, "needs an absolute path without \"..\" behind the colon");
    while (entry.path.size() > 1 && entry.path.ends_with('/')) entry.path.pop_back();
    return entry;
}

/// A DNS label that shows where the volume comes from.
std::string name_hint(std::string_view source) {
    std::string made;
    for (const char c : source) {
        const auto letter = static_cast<unsigned char>(c);
        const bool fits = std::isalnum(letter) != 0;
        if (fits)
            made += static_cast<char>(std::tolower(letter));
        else if (!made.empty() && made.back() != '-')
            made += '-';
    }
    if (made.size() > kLongestHint) made.erase(0, made.size() - kLongestHint);
    while (made.starts_with('-')) made.erase(0, 1);
    while (made.ends_with('-')) made.pop_back();
    return made.empty() ? "volume" : made;
}

Result<std::string> object_name(std::string_view text, const Entry& entry) {
    if (!kube::is_dns1123_subdomain(entry.source))
        return refused_entry(text,
                             fmt::format("names no object: \"{}\" can't be a name", entry.source));
    return entry.source;
}

Result<json::object> memory_source(std::string_view text, std::string size) {
    // "16G" and "16" are 16 GiB.
    while (!size.empty() && std::isalpha(static_cast<unsigned char>(size.back())) != 0)
        size.pop_back();
    const Result<kube::Quantity> parsed = kube::Quantity::parse(size + "Gi");
    if (size.empty() || !parsed || parsed->ceil_units() < 1)
        return refused_entry(text, "needs a size in GiB, as in 16G(memory):/dev/shm");
    return json::object{{"emptyDir", {{"medium", "Memory"}, {"sizeLimit", size + "Gi"}}}};
}

/// What the volume is, without its name.
Result<json::object> volume_source(std::string_view text, const Entry& entry) {
    const std::string& kind = entry.kind;
    if (kind == "pvc" || kind == "pvc-share" || kind == "storage") {
        TRY(const std::string claim, object_name(text, entry));
        return json::object{{"persistentVolumeClaim", {{"claimName", claim}}}};
    }
    if (kind == "configmap") {
        TRY(const std::string name, object_name(text, entry));
        return json::object{{"configMap", {{"name", name}}}};
    }
    if (kind == "secret") {
        TRY(const std::string name, object_name(text, entry));
        return json::object{{"secret", {{"secretName", name}}}};
    }
    if (kind == "memory") return memory_source(text, entry.source);
    if (kind == "hostpath") {
        if (!entry.source.starts_with('/') || entry.source.contains(".."))
            return refused_entry(text, "needs an absolute path of the node without \"..\"");
        return json::object{{"hostPath", {{"path", entry.source}}}};
    }
    if (kind == "nfs") {
        const std::size_t slash = entry.source.find('/');
        if (slash == 0 || slash == entry.source.npos)
            return refused_entry(text, "needs a server and a path, as in 10.0.0.1/data(nfs):/data");
        return json::object{
            {"nfs",
             {{"server", entry.source.substr(0, slash)}, {"path", entry.source.substr(slash)}}}};
    }
    return refused_entry(
        text, fmt::format("has the unknown kind \"{}\": it must be {}", kind, kVolumeKinds));
}

/// Collects volumes and mounts; a source that is mounted twice is one volume.
class Plan {
  public:
    /// Returns what is wrong.
    std::optional<Error> add(std::string_view text, const VolumeSettings& settings) {
        Result<Entry> entry = read_entry(text);
        if (!entry) return entry.error();
        Result<json::object> source = volume_source(text, *entry);
        if (!source) return source.error();
        std::string folder;
        if (entry->kind == "pvc") {
            folder = settings.user;
            if (folder.empty())
                return refused_entry(text, "shows a user's folder, and KFJ_CREATOR is not set");
            if (folder.contains('/') || folder == "..")
                return refused_entry(text,
                                     fmt::format("shows a user's folder, and KFJ_CREATOR (\"{}\") "
                                                 "can't be the name of one",
                                                 folder));
            entry->path = (entry->path == "/" ? "" : entry->path) + "/" + folder;
        }
        const std::string volume = volume_of(entry->source, *std::move(source));
        const auto [mounted, is_new] = mounted_.try_emplace(entry->path, volume);
        if (!is_new && mounted->second != volume)
            return refused_entry(
                text, fmt::format("is mounted at {}, where another entry already is", entry->path));
        if (is_new) mount(volume, entry->path, folder);
        return std::nullopt;
    }
    void add_defaults(const VolumeSettings& settings, bool any) {
        if (any && !settings.time_zone.empty() && !mounted_.contains(std::string(kLocalTime)))
            mount(volume_of("tz-config",
                            {{"hostPath", {{"path", std::string(kZones) + settings.time_zone}}}}),
                  std::string(kLocalTime), "");
        if (!mounted_.contains(std::string(kSharedMemory)))
            mount(volume_of("dshm", {{"emptyDir", {{"medium", "Memory"}}}}),
                  std::string(kSharedMemory), "");
    }
    VolumePlan take() { return std::move(plan_); }

  private:
    std::string volume_of(std::string_view hint, json::object source) {
        const std::string key = json::serialize(source);
        if (const auto known = by_source_.find(key); known != by_source_.end())
            return known->second;
        const std::string wanted = name_hint(hint);
        std::string name = wanted;
        for (std::size_t n = names_.size(); !names_.insert(name).second; ++n)
            name = fmt::format("{}-{}", wanted, n);
        source["name"] = name;
        plan_.volumes.emplace_back(std::move(source));
        by_source_[key] = name;
        return name;
    }
    void mount(const std::string& volume, const std::string& path, const std::string& folder) {
        json::object made = {{"name", volume}, {"mountPath", path}};
        if (!folder.empty()) made["subPath"] = folder;
        plan_.mounts.emplace_back(std::move(made));
    }

    VolumePlan plan_;
    std::map<std::string, std::string> by_source_;  ///< names of volumes
    std::map<std::string, std::string> mounted_;    ///< by path
    std::set<std::string> names_;
};

}  // namespace

Result<VolumePlan> read_volume_text(std::string_view text, const VolumeSettings& settings) {
    Plan plan;
    std::vector<std::string> problems;
    const std::vector<std::string_view> entries = entries_of(text, ",;\n\r");
    for (const std::string_view entry : entries)
        if (const std::optional<Error> problem = plan.add(entry, settings))
            problems.push_back(problem->message());
    if (!problems.empty())
        return Error(Code::kInvalid, fmt::format("{}", fmt::join(problems, "; ")));
    plan.add_defaults(settings, !entries.empty());
    return plan.take();
}

}  // namespace muster::cli
