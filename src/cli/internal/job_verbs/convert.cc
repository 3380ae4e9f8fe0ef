#include <fmt/format.h>

#include <cstdio>

#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/objects/bare_names.h"
#include "cli/internal/objects/object_print.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "manifest/old_versions.h"
#include "manifest/read_files.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

constexpr std::string_view kConvertHelp =
    R"(Converts the jobs of a manifest to another version of their kind, and prints them on standard output.

Usage: muster convert FILE... [FLAGS]        FILE may be - for standard input

      --to KIND/VERSION      the version, as in mpijob/v2beta1; jobs of other kinds stay as they are
      --to VERSION           of every job (default: of each kind the one that is stored)
  -f, --filename FILE        another way to name a manifest; may be repeated
  -o, --output yaml|json     (default: yaml)

Changes are reported on standard error, with the place in the file. What the other version has no field for is
kept in the annotation muster.dev/converted-from, so that converting back gives the same fields again; delete it
once you will not convert back. Comments and layout of the file are not kept.

'muster run', 'validate' and 'apply' read old versions by themselves, and print the same messages as warnings.

Versions besides those that are served: TFJob and PyTorchJob v1beta1 and v1beta2, MPIJob v1alpha1.

Examples:
  muster convert old.yaml > new.yaml
  muster convert - --to mpijob/v2beta1 < old.yaml

Exit status: 0; 2 when a file or the version is wrong, and nothing is printed.
)";

std::string text_of(const std::vector<manifest::Document>& documents, OutputFormat format) {
    if (documents.size() == 1 && format == OutputFormat::kJson)
        return manifest::to_pretty_json(documents.front().object);
    std::vector<json::value> objects;
    objects.reserve(documents.size());
    for (const manifest::Document& document : documents) objects.push_back(document.object);
    return print_objects(objects, format);
}

int convert(const ConvertOptions& options) {
    manifest::Manifest manifest = manifest::read_files_as_written(options.files);
    bool found = false;
    for (manifest::Document& document : manifest.documents)
        found |= manifest::convert_document(document, options.to_kind, options.to_version,
                                            manifest.problems);
    manifest::sort_problems(manifest.problems);
    for (const manifest::Problem& problem : manifest.problems)
        fmt::print(stderr, "{}\n", format(problem));
    if (manifest::has_errors(manifest.problems)) {
        fmt::print(stderr, "muster convert: {}; nothing was printed\n",
                   manifest::count_problems(manifest.problems));
        return 2;
    }
    if (!found) {
        fmt::print(stderr, "muster convert: the files hold no {}\n", options.to_kind);
        return 2;
    }
    print_exact(text_of(manifest.documents, options.output));
    return 0;
}

class ConvertVerb final : public VerbOf<ConvertOptions> {
  public:
    ConvertVerb() : VerbOf("convert", kConvertHelp) {}

    void declare(Flags& flags) override {
        files_.declare(flags, options_.files);
        flags.value("--to", to_);
        flags.value("--output,-o", output_);
    }
    std::optional<std::string> finish(const Flags&) override {
        files_.finish(options_.files);
        if (options_.files.empty()) return "name a manifest, or - for standard input";
        const std::size_t slash = to_.find('/');
        if (slash != std::string::npos) options_.to_kind = to_.substr(0, slash);
        options_.to_version = slash == std::string::npos ? to_ : to_.substr(slash + 1);
        // As it is in apiVersion.
        if (options_.to_kind == "kubeflow.org") options_.to_kind.clear();
        if (!to_.empty() && (options_.to_version.empty() || slash == 0 ||
                             options_.to_version.find('/') != std::string::npos))
            return fmt::format(
                "--to wants KIND/VERSION or VERSION, as in pytorchjob/v1, not \"{}\"", to_);
        return read_output(output_, options_.output);
    }
    int run() override { return convert(options_); }

  private:
    FileFlags files_;
    std::string to_;
    std::string output_;
};

}  // namespace

std::unique_ptr<Verb> convert_verb() { return std::make_unique<ConvertVerb>(); }

}  // namespace muster::cli
