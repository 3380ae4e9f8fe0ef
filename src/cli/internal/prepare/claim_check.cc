#include "cli/internal/prepare/claim_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "jobs/kind.h"
#include "kube/values/json_access.h"
#include "kube/values/namespaced_name.h"
#include "kube/values/quantity.h"
#include "manifest/pod_specs.h"

namespace muster::cli {

namespace {

using kube::NamespacedName;

const kube::ResourceType kClaims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"};
constexpr std::string_view kVolumeKind = "PersistentVolume";

/// How pods use a claim.
struct Use {
    const manifest::CheckedObject* first = nullptr;
    std::string field;  ///< of the first pod that names it
    int pods = 0;
};

std::string spec_text(const manifest::CheckedObject& object, std::string_view key) {
    return std::string(
        kube::string_at(kube::child(object.document.object.get_object(), "spec"), key));
}

const json::object& spec_of(const manifest::CheckedObject& object) {
    return kube::child(object.document.object.get_object(), "spec");
}

bool is_directory(const manifest::CheckedObject& volume) {
    return spec_of(volume).contains("hostPath") || spec_of(volume).contains("local");
}

class ClaimCheck {
  public:
    ClaimCheck(std::vector<manifest::CheckedObject>& objects,
               const std::map<std::string, std::string>& places)
        : objects_(objects), places_(places) {}

    ClaimPlan run() {
        for (manifest::CheckedObject& object : objects_) {
            if (object.type == kClaims) claims_[{object.namespace_, object.name}] = &object;
            if (object.type.kind == kVolumeKind) volumes_.push_back(&object);
            collect_uses(object);
        }
        for (const auto& [name, use] : uses_) {
            const auto claim = claims_.find(name);
            if (claim == claims_.end())
                add_missing(name, use);
            else
                check(name, use, *claim->second);
        }
        check_places();
        return std::move(plan_);
    }

  private:
    void collect_uses(manifest::CheckedObject& object) {
        for (const manifest::PodSpecRef& pod : manifest::pod_specs(object.document)) {
            int pods = 1;
            if (object.job) {
                const jobs::ReplicaSpec* spec = object.job->replica(pod.replica_type);
                pods = spec == nullptr ? 0 : spec->replicas.value_or(0);
            }
            if (pods == 0) continue;
            std::set<NamespacedName> of_pod;
            const json::array* volumes = kube::array_at(*pod.spec, "volumes");
            for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
                const json::object* volume = (*volumes)[i].if_object();
                if (volume == nullptr) continue;
                const std::string_view name =
                    kube::string_at(kube::child(*volume, "persistentVolumeClaim"), "claimName");
                if (name.empty()) continue;
                NamespacedName claim{object.namespace_, std::string(name)};
                Use& use = uses_[claim];
                if (use.first == nullptr) {
                    use.first = &object;
                    use.field =
                        fmt::format("{}.volumes[{}].persistentVolumeClaim.claimName", pod.path, i);
                }
                if (of_pod.insert(std::move(claim)).second) use.pods += pods;
            }
        }
    }

    const std::string* place_of(const NamespacedName& name) const {
        for (const std::string& key : {name.text(), name.name})
            if (const auto found = places_.find(key); found != places_.end()) return &found->second;
        return nullptr;
    }

    void error(const manifest::CheckedObject& object, const std::string& field,
               std::string message) {
        plan_.problems.push_back(
            object.document.problem(manifest::Severity::kError, field, std::move(message)));
    }

    void add_missing(const NamespacedName& name, const Use& use) {
        json::object claim{
            {"apiVersion", "v1"},
            {"kind", kClaims.kind},
            {"metadata", json::object{{"name", name.name}, {"namespace", name.namespace_}}},
            {"spec", json::object{{"accessModes", json::array{"ReadWriteMany"}},
                                  {"resources",
                                   json::object{{"requests", json::object{{"storage", "1Gi"}}}}}}}};
        manifest::CheckedObject made{.document = {.source = use.first->document.source},
                                     .type = kClaims,
                                     .namespace_ = name.namespace_,
                                     .name = name.name,
                                     .job = {}};
        made.document.object = std::move(claim);
        plan_.missing.push_back(std::move(made));
        tell(name, "not in the manifest");
    }

    void tell(const NamespacedName& name, const std::string& asks_for) {
        const std::string* place = place_of(name);
        plan_.notices.push_back(
            place != nullptr
                ? fmt::format("the claim \"{}\" ({}) is {}", name.name, asks_for, *place)
                : fmt::format("the claim \"{}\" ({}) is a directory of this run, which goes with "
                              "it: --volume {}=DIR gives it one that stays",
                              name.name, asks_for, name.name));
    }

    void check(const NamespacedName& name, const Use& use, const manifest::CheckedObject& claim) {
        const json::object& spec = spec_of(claim);
        const std::vector<std::string> modes = kube::strings_at(spec, "accessModes");
        if (std::ranges::find(modes, "ReadWriteOncePod") != modes.end() && use.pods > 1)
            error(*use.first, use.field,
                  fmt::format("the claim \"{}\" is ReadWriteOncePod and {} pods use it, of which "
                              "one could start: make it ReadWriteMany, or ReadWriteOnce, which "
                              "all pods of one node may use",
                              name.name, use.pods));
        if (kube::string_at(spec, "volumeMode") == "Block")
            return error(claim, "spec.volumeMode",
                         "this machine gives claims directories, not devices: leave this out");
        const manifest::CheckedObject* volume = volume_of(claim);
        if (place_of(name) == nullptr) {
            if (!has_directory(name, claim, volume)) return;
            if (volume != nullptr) return tell_of_volume(name, *volume);
        }
        tell(name, fmt::format("{}, {}", amount_of(spec), fmt::join(modes, ", ")));
    }

    static std::string amount_of(const json::object& spec) {
        const json::value* amount =
            kube::child(kube::child(spec, "resources"), "requests").if_contains("storage");
        const auto parsed = amount == nullptr ? Result<kube::Quantity>(kube::Quantity())
                                              : kube::Quantity::parse(*amount);
        return parsed ? parsed->to_string() + ", which nothing enforces" : std::string("no size");
    }

    /// The volume of the manifest that is meant for the claim; null if there is none.
    const manifest::CheckedObject* volume_of(const manifest::CheckedObject& claim) const {
        const std::string named = spec_text(claim, "volumeName");
        const json::object& spec = spec_of(claim);
        for (const manifest::CheckedObject* volume : volumes_) {
            if (!named.empty()) {
                if (volume->name == named) return volume;
                continue;
            }
            const json::object& kept = kube::child(spec_of(*volume), "claimRef");
            const bool for_it = kube::string_at(kept, "name") == claim.name &&
                                kube::string_at(kept, "namespace") == claim.namespace_;
            const bool same_class =
                kept.empty() && spec.contains("storageClassName") &&
                spec_text(*volume, "storageClassName") == spec_text(claim, "storageClassName");
            if (for_it || same_class) return volume;
        }
        return nullptr;
    }

    /// Whether it gets one without a flag.
    bool has_directory(const NamespacedName& name, const manifest::CheckedObject& claim,
                       const manifest::CheckedObject* volume) {
        const auto advice = fmt::format("name its directory with --volume {}=DIR", name.name);
        if (volume != nullptr) {
            if (is_directory(*volume)) return true;
            error(claim, "spec",
                  fmt::format("the PersistentVolume \"{}\" that it would get is of a type that "
                              "this machine does not mount; {}",
                              volume->name, advice));
            return false;
        }
        if (const std::string named = spec_text(claim, "volumeName"); !named.empty()) {
            error(claim, "spec.volumeName",
                  fmt::format("nothing makes the PersistentVolume \"{}\": leave this out, or {}",
                              named, advice));
            return false;
        }
        const json::value* class_name = spec_of(claim).if_contains("storageClassName");
        if (class_name == nullptr || *class_name != "") return true;
        error(claim, "spec.storageClassName",
              fmt::format("a claim of no class waits for a PersistentVolume of the manifest, and "
                          "there is none: leave this out, or {}",
                          advice));
        return false;
    }

    void tell_of_volume(const NamespacedName& name, const manifest::CheckedObject& volume) {
        const json::object& spec = spec_of(volume);
        const std::string_view source = spec.contains("hostPath") ? "hostPath" : "local";
        plan_.notices.push_back(
            fmt::format("the claim \"{}\" is {}, as PersistentVolume \"{}\" says", name.name,
                        kube::string_at(kube::child(spec, source), "path"), volume.name));
    }

    void check_places() {
        std::vector<std::string> used;
        std::set<std::string> known;
        for (const auto& [name, use] : uses_) {
            used.push_back(name.name);
            known.insert({name.name, name.text()});
        }
        for (const auto& [name, directory] : places_) {
            if (known.contains(name)) continue;
            manifest::Problem problem;
            problem.source = fmt::format("--volume {}={}", name, directory);
            problem.message =
                used.empty() ? std::string("no pod of the manifest uses a claim")
                             : fmt::format("no pod of the manifest uses this claim; they use {}",
                                           fmt::join(used, ", "));
            plan_.problems.push_back(std::move(problem));
        }
    }

    std::vector<manifest::CheckedObject>& objects_;
    const std::map<std::string, std::string>& places_;
    std::map<NamespacedName, const manifest::CheckedObject*> claims_;
    std::vector<const manifest::CheckedObject*> volumes_;
    std::map<NamespacedName, Use> uses_;
    ClaimPlan plan_;
};

}  // namespace

ClaimPlan plan_claims(std::vector<manifest::CheckedObject>& objects,
                      const std::map<std::string, std::string>& places) {
    return ClaimCheck(objects, places).run();
}

}  // namespace muster::cli
