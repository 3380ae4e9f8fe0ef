#include "cli/internal/install/layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_inputs.h"
#include "cli/internal/install/chart_text.h"

namespace muster::cli::layouts_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

Installation standard() { return {.image = "muster/operator:" MUSTER_VERSION}; }

std::string read(const fs::path& path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void expect_committed(const std::string& layout, const std::string& folder, const Files& made) {
    const fs::path root = source_path(folder);
    const std::string remedy =
        "; muster manifests --layout " + layout + " --output-dir " + folder + " writes it";
    for (const auto& [name, text] : made)
        EXPECT_TRUE(read(root / name) == text) << folder << "/" << name << " differs" << remedy;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file()) continue;
        const std::string name = entry.path().lexically_relative(root).string();
        EXPECT_THAT(made, Contains(Key(name))) << folder << " has a file that nothing makes";
    }
}

TEST(Layouts, AreCommittedAsTheyAreMade) {
    expect_committed("helm", "deploy/helm/muster", helm_chart(standard(), MUSTER_VERSION));
    expect_committed("kustomize", "deploy/kustomize", kustomization(standard()));
}

TEST(Layouts, OfAChartHaveNoMarkLeftAndNothingThatLooksLikeAnExpression) {
    for (const auto& [name, text] : helm_chart(standard(), "1")) {
        EXPECT_THAT(text, Not(HasSubstr("__value"))) << name;
        EXPECT_THAT(text, Not(HasSubstr("__items"))) << name;
        if (!name.starts_with("templates/")) {
            EXPECT_THAT(text, Not(HasSubstr("{{"))) << name;
        }
    }
    for (const Part& part : parts_of(standard()))
        EXPECT_THAT(yaml_stream(part.objects), Not(HasSubstr("{{"))) << part.name;
}

// --- the text of a chart

TEST(ChartText, AMarkAloneIsAValueOfAnyTypeAndWithinATextIsAsItIs) {
    const std::string mark = chart_value(".Values.a");
    EXPECT_EQ(with_expressions("x: " + mark + "\n"), "x: {{ toJson .Values.a }}\n");
    EXPECT_EQ(with_expressions("- " + mark + "\n"), "- {{ toJson .Values.a }}\n");
    EXPECT_EQ(with_expressions("- --n=" + mark + "\n"), "- --n={{ .Values.a }}\n");
    EXPECT_EQ(with_expressions("x: a-" + mark + "-" + mark + "\n"),
              "x: a-{{ .Values.a }}-{{ .Values.a }}\n");
    EXPECT_EQ(with_expressions("x: 1\n"), "x: 1\n");
}

TEST(ChartText, AMarkOfItemsIsARange) {
    EXPECT_EQ(with_expressions("  - " + chart_items(".Values.l") + "\n"),
              "  {{- range .Values.l }}\n  - {{ toJson . }}\n  {{- end }}\n");
}

TEST(ChartText, WhatDiffersIsUnderACondition) {
    struct Case {
        std::string then, otherwise, wanted;
    };
    for (const Case& row : std::vector<Case>{
             {"a\nb\n", "a\nb\n", "a\nb\n"},
             {"a\nb\nc\n", "a\nx\nc\n", "a\n{{- if .v }}\nb\n{{- else }}\nx\n{{- end }}\nc\n"},
             {"a\nb\nc\n", "a\nc\n", "a\n{{- if .v }}\nb\n{{- end }}\nc\n"},
             {"a\nc\n", "a\nb\nc\n", "a\n{{- if not .v }}\nb\n{{- end }}\nc\n"},
             {"a\na\n", "a\n", "a\n{{- if .v }}\na\n{{- end }}\n"},
             {"a\n", "", "{{- if .v }}\na\n{{- end }}\n"},
         })
        EXPECT_EQ(either(".v", row.then, row.otherwise), row.wanted) << row.then;
    EXPECT_EQ(only_if(".v", "a\n"), "{{- if .v }}\na\n{{- end }}\n");
}

}  // namespace
}  // namespace muster::cli::layouts_test
