#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jobs/conversion.h"

namespace muster::jobs {

/// Collects what a converter reports while it works.
class ConversionNotes {
  public:
    ConversionNotes(std::string from, std::string to)
        : from_(std::move(from)), to_(std::move(to)) {}

    /// The apiVersions.
    const std::string& from() const { return from_; }
    const std::string& to() const { return to_; }

    /// Reports what happened to a field of the given object.
    void changed(std::string field, std::string message) {
        changes.push_back({"Converted", std::move(message), std::move(field)});
    }
    /// Reports why the object can't be converted.
    void refused(Cause cause) { problems.push_back(std::move(cause)); }
    /// Reports that the value now at `field` comes from `from` in the given object.
    void moved(std::string from, std::string field) {
        origins.push_back({std::move(field), std::move(from)});
    }
    /// Reports that the other version has no such field.
    void dropped(std::string field) {
        changed(std::move(field), to_ + " has no such field; it is kept in the annotation " +
                                      std::string(annotations::kConvertedFrom));
    }

    std::vector<Cause> changes;
    std::vector<Cause> problems;
    std::vector<Origin> origins;

  private:
    std::string from_;
    std::string to_;
};

/// Two versions of a kind, and the conversions between their specs. Neither function need be the
/// exact inverse of the other, and neither may fail on a spec of any shape: parts that are not as
/// the version has them are left alone, and the check reports them.
struct Converter {
    using Rewrite = std::function<void(json::object& spec, ConversionNotes&)>;

    std::string kind;
    std::string old_version;
    std::string version;
    Rewrite up;    ///< old to new
    Rewrite down;  ///< new to old
    /// The fields belong together: after an edit of one, none is restored from the kept data.
    bool as_a_whole = false;
};

/// v1beta1 and v1beta2 of TFJob and PyTorchJob, whose run policy had no struct of its own.
std::vector<Converter> run_policy_converters();
/// v1alpha1 of MPIJob, with one template for all of its pods.
Converter mpi_v1alpha1_converter();

}  // namespace muster::jobs
