#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/resources/resource_def.h"
#include "kube/patch/owner_versions.h"

namespace muster::apiserver {

/// The states of an object that a write compares, in other versions of a kind that a webhook
/// converts. The decision about the write is pure, and asks no one: what it lacks is noted here, and
/// it is made again once the webhook was asked for that (Writer). Used by one write, by one thread
/// at a time.
class OwnerViews final : public kube::OwnerVersions {
  public:
    /// How many versions are looked at. Each may cost two questions and two more objects.
    static constexpr std::size_t kMostVersions = 8;

    /// All versions of the resource, and what a write by `subresource` may not own.
    OwnerViews(const std::vector<DefPtr>& versions, std::string_view subresource);

    const Version* find(std::string_view api_version) const override;
    kube::ObjectPtr convert(const json::value& object, std::string_view api_version) override;

    /// An object that is needed in another version.
    struct Question {
        DefPtr def;
        std::string text;
    };
    /// What was needed since the last call.
    std::vector<Question> take_questions() { return std::exchange(questions_, {}); }
    bool asks() const { return !questions_.empty(); }
    void learn(const Question& question, kube::ObjectPtr made);

    /// The webhook could not be asked. As upstream, a write other than an apply then forgets who owns
    /// what.
    void give_up() { gave_up_ = true; }
    bool gave_up() const { return gave_up_; }

  private:
    struct Served {
        DefPtr def;
        Version version;
    };
    std::map<std::string, Served, std::less<>> served_;
    /// By version and text; null: asked for.
    std::map<std::pair<std::string, std::string>, kube::ObjectPtr> known_;
    std::vector<Question> questions_;
    bool gave_up_ = false;
};

}  // namespace muster::apiserver
