#include "cli/internal/command_line/command_line.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "base/time/duration.h"
#include "cli/internal/flags/known_verbs.h"
#include "cli/internal/logs/log_options.h"
#include "cli/internal/run/run_options.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "manifest/manifest.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli::command_line_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

RunOptions run_of(std::vector<std::string> arguments) {
    Command command = parse_command_line(arguments);
    if (auto* print = std::get_if<Print>(&command)) ADD_FAILURE() << print->err;
    const RunOptions* options = options_of<RunOptions>(command);
    return options == nullptr ? RunOptions() : *options;
}
std::string error_of(std::vector<std::string> arguments) {
    Command command = parse_command_line(arguments);
    auto* print = std::get_if<Print>(&command);
    if (print == nullptr) return "accepted";
    EXPECT_EQ(print->exit_code, 2);
    return print->err;
}

TEST(CommandLine, RunTakesItsFlags) {
    RunOptions options = run_of({"run",
                                 "a.yaml",
                                 "-f",
                                 "-",
                                 "--set",
                                 "a.b=c=d",
                                 "--replicas",
                                 "Worker=4",
                                 "--env",
                                 "K=",
                                 "--mount",
                                 "/w=.",
                                 "--ignore-resources",
                                 "x,y",
                                 "--fit",
                                 "strict",
                                 "--sandbox",
                                 "none",
                                 "--timeout",
                                 "1m30s",
                                 "-o",
                                 "yaml",
                                 "-q",
                                 "-v",
                                 "-v",
                                 "--keep",
                                 "--namespace",
                                 "ml",
                                 "--set",
                                 "e=f"});
    EXPECT_THAT(options.manifest.files, ElementsAre("a.yaml", "-"));
    EXPECT_THAT(options.manifest.adjustments.sets, ElementsAre(Pair("a.b", "c=d"), Pair("e", "f")));
    EXPECT_THAT(options.manifest.adjustments.replicas, ElementsAre(Pair("Worker", "4")));
    EXPECT_THAT(options.manifest.adjustments.env, ElementsAre(Pair("K", "")));
    EXPECT_THAT(options.manifest.adjustments.ignored_resources, ElementsAre("x", "y"));
    EXPECT_EQ(options.manifest.adjustments.namespace_, "ml");
    EXPECT_THAT(options.manifest.mounts, ElementsAre(Pair("/w", ".")));
    EXPECT_EQ(options.manifest.fit, manifest::Fit::kStrict);
    EXPECT_EQ(options.sandbox, runtime::SandboxMode::kNone);
    EXPECT_EQ(options.timeout, std::chrono::seconds(90));
    EXPECT_EQ(options.output, OutputFormat::kYaml);
    EXPECT_TRUE(options.quiet && options.keep);
    EXPECT_EQ(options.verbose, 2);
}

TEST(CommandLine, RunOnACluster) {
    EXPECT_FALSE(run_of({"run", "a.yaml"}).cluster);
    const RunOptions options = run_of({"run", "--context", "prod", "--kubeconfig", "k", "-n", "ml",
                                       "--workdir", "/w", "--timeout", "1m", "a.yaml"});
    ASSERT_TRUE(options.cluster);
    EXPECT_EQ(options.cluster->context, "prod");
    EXPECT_EQ(options.cluster->kubeconfig, "k");
    EXPECT_EQ(options.cluster->namespace_, "ml");
    EXPECT_TRUE(run_of({"run", "--kubeconfig", "k", "a.yaml"}).cluster);
}

TEST(CommandLine, WhatIsAboutThisMachineIsRefusedOnACluster) {
    for (const std::vector<std::string>& flag :
         std::vector<std::vector<std::string>>{{"--sandbox", "auto"},
                                               {"--files", "private"},
                                               {"--files-limit", "1Gi"},
                                               {"--mount", "/w=."},
                                               {"--fit", "scale"},
                                               {"--keep"},
                                               {"--workdir", "per-pod"}}) {
        std::vector<std::string> line = {"run", "a.yaml", "--context", "prod"};
        line.insert(line.end(), flag.begin(), flag.end());
        EXPECT_THAT(error_of(line), HasSubstr(flag[0])) << flag[0];
        EXPECT_THAT(error_of(line), HasSubstr("is about the machine, and --context runs the job "
                                              "on a server"));
        line[2] = "--kubeconfig";
        EXPECT_THAT(error_of(line), HasSubstr("and --kubeconfig runs the job on a server"));
    }
    EXPECT_THAT(error_of({"run", "a.yaml", "--context", "prod", "--workdir", "here"}),
                HasSubstr("write an absolute path"));
    EXPECT_THAT(error_of({"run", "a.yaml", "--context", ""}), HasSubstr("wants a name"));
}

TEST(CommandLine, FlagsMayComeBeforeTheFile) {
    EXPECT_THAT(run_of({"run", "--set", "a=b", "j.yaml"}).manifest.files, ElementsAre("j.yaml"));
    EXPECT_THAT(run_of({"run", "-"}).manifest.files, ElementsAre("-"));
}

TEST(CommandLine, UnknownWordsGetTheNearest) {
    EXPECT_THAT(error_of({"rnu", "x"}), HasSubstr("unknown verb \"rnu\"; did you mean run?"));
    EXPECT_THAT(error_of({"run", "x", "--sandbx=none"}),
                HasSubstr("unknown flag \"--sandbx=none\"; did you mean --sandbox?"));
    EXPECT_THAT(error_of({"validate", "x", "--stric"}), HasSubstr("did you mean --strict?"));
}

TEST(CommandLine, BadValuesSayWhatIsWanted) {
    EXPECT_THAT(error_of({"run"}), HasSubstr("name a script or a manifest"));
    EXPECT_THAT(error_of({"launch"}), HasSubstr("name a program"));
    EXPECT_THAT(error_of({"validate"}), HasSubstr("name a manifest"));
    EXPECT_THAT(error_of({"run", "x", "--env", "K"}),
                HasSubstr("--env wants NAME=VALUE, not \"K\""));
    EXPECT_THAT(error_of({"run", "x", "--mount", "w=."}),
                HasSubstr("the path of the image must be absolute"));
    EXPECT_THAT(error_of({"run", "x", "--warm"}), HasSubstr("--warm needs --elastic"));
    EXPECT_TRUE(run_of({"run", "--elastic", "--warm", "x"}).warm);
    EXPECT_THAT(error_of({"run", "x", "--fit", "no"}), HasSubstr("--fit wants scale or strict"));
    EXPECT_THAT(error_of({"run", "x", "--output", "xml"}),
                HasSubstr("--output wants json or yaml"));
    EXPECT_THAT(error_of({"run", "x", "--sandbox", "vm"}), HasSubstr("--sandbox wants"));
    EXPECT_THAT(error_of({"run", "x", "--timeout", "soon"}),
                HasSubstr("--timeout wants a duration"));
    EXPECT_THAT(error_of({"up", "--fit"}), HasSubstr("--fit wants a value"));
    EXPECT_THAT(error_of({"simulate", "x", "--seeds", "2", "--seeds", "3"}),
                HasSubstr("--seeds is given more than once"));
}

TEST(CommandLine, WhereTheFilesOfAPodAre) {
    RunOptions plain = run_of({"run", "j.yaml", "--workdir", "/w"});
    EXPECT_FALSE(plain.private_files || plain.manifest.own_workdir);
    EXPECT_EQ(plain.manifest.adjustments.workdir, "/w");
    RunOptions own = run_of(
        {"run", "j.yaml", "--files", "private", "--files-limit", "2Mi", "--workdir", "per-pod"});
    EXPECT_TRUE(own.private_files && own.manifest.own_workdir);
    EXPECT_EQ(own.manifest.adjustments.workdir, "");
    EXPECT_EQ(own.files_bytes, 2U << 20);
    for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{
             {"--files", "mine"}, {"--files-limit", "much"}, {"--files-limit", "0"}}) {
        Command command = parse_command_line({"run", "j.yaml", flag, value});
        ASSERT_TRUE(std::holds_alternative<Print>(command)) << flag;
        EXPECT_THAT(std::get<Print>(command).err, HasSubstr(flag + " wants"));
    }
}

TEST(CommandLine, UpAndItsCompanions) {
    const Command plain = parse_command_line({"up"});
    const auto& defaults = *options_of<UpOptions>(plain);
    EXPECT_EQ(defaults.state_dir, "");
    EXPECT_EQ(defaults.listen, (control_plane::ListenAddress{"127.0.0.1", 6443}));
    EXPECT_FALSE(defaults.detach || defaults.merge_kubeconfig);
    EXPECT_EQ(defaults.limits.read_only, 400U);
    EXPECT_EQ(defaults.limits.mutating, 200U);
    const Command full = parse_command_line(
        {"up", "--state", "/s", "--listen", "0.0.0.0:7443", "-d", "--merge-kubeconfig", "--sandbox",
         "none", "-v", "--max-requests-inflight", "9", "--max-mutating-requests-inflight", "0"});
    const auto& up = *options_of<UpOptions>(full);
    EXPECT_EQ(up.state_dir, "/s");
    EXPECT_EQ(up.listen, (control_plane::ListenAddress{"0.0.0.0", 7443}));
    EXPECT_TRUE(up.detach && up.merge_kubeconfig);
    EXPECT_EQ(up.sandbox, runtime::SandboxMode::kNone);
    EXPECT_EQ(up.verbose, 1);
    const Command audited =
        parse_command_line({"up", "--audit-log", "a.log", "--audit-level", "Request",
                            "--audit-log-maxsize", "2", "--audit-log-maxbackup", "3"});
    EXPECT_EQ(options_of<UpOptions>(audited)->audit_log, "a.log");
    EXPECT_EQ(options_of<UpOptions>(audited)->audit_level, apiserver_http::AuditLevel::kRequest);
    EXPECT_EQ(options_of<UpOptions>(audited)->audit_limits.file_bytes, 2U * 1024 * 1024);
    EXPECT_EQ(options_of<UpOptions>(audited)->audit_limits.kept, 3U);
    EXPECT_THAT(error_of({"up", "--audit-level", "all"}), HasSubstr("--audit-level wants"));
    EXPECT_THAT(error_of({"up", "--audit-log-maxsize", "0"}), HasSubstr("--audit-log-maxsize"));
    EXPECT_EQ(up.limits.read_only, 9U);
    EXPECT_EQ(up.limits.mutating, 0U);
    const Command down = parse_command_line({"down", "--state", "/s", "--kill"});
    EXPECT_EQ(options_of<DownOptions>(down)->state_dir, "/s");
    EXPECT_TRUE(options_of<DownOptions>(down)->kill);
    EXPECT_TRUE(options_of<DownOptions>(parse_command_line({"down", "--keep-pods"}))->keep_pods);
    EXPECT_THAT(error_of({"down", "--keep-pods", "--kill"}), HasSubstr("--kill excludes"));
    const Command status = parse_command_line({"status", "--state", "/s"});
    EXPECT_EQ(options_of<StatusOptions>(status)->state_dir, "/s");
    const Command kubeconfig =
        parse_command_line({"kubeconfig", "--state", "/s", "--host", "node0"});
    EXPECT_EQ(options_of<KubeconfigOptions>(kubeconfig)->state_dir, "/s");
    EXPECT_EQ(options_of<KubeconfigOptions>(kubeconfig)->host, "node0");
    EXPECT_TRUE(options_of<UpOptions>(parse_command_line({"up", "--supervise"}))->supervise);
    EXPECT_THAT(error_of({"up", "--supervise", "--detach"}), HasSubstr("--detach excludes"));
    EXPECT_THAT(error_of({"up", "--listen", "localhost"}),
                HasSubstr("--listen wants an IP address"));
    EXPECT_THAT(error_of({"up", "--sandbox", "x"}), HasSubstr("--sandbox wants"));
    EXPECT_THAT(error_of({"up", "--max-requests-inflight", "-1"}),
                HasSubstr("--max-requests-inflight: wants 0 or a number above it, not \"-1\""));
    EXPECT_THAT(error_of({"up", "--audit-level", "Request"}), HasSubstr("needs --audit-log"));
    for (const char* verb : {"up", "down", "status", "kubeconfig"})
        EXPECT_THAT(error_of({verb, "--state", ""}), HasSubstr("--state: wants a directory"));
    EXPECT_THAT(error_of({"up", "now"}), HasSubstr("up does not know what to do with \"now\""));
    EXPECT_THAT(error_of({"down", "--stat", "x"}), HasSubstr("did you mean --state?"));
}

TEST(CommandLine, ManifestsTakesItsFlags) {
    const auto of = [](std::vector<std::string> arguments) {
        return *options_of<ManifestsOptions>(parse_command_line(arguments));
    };
    const ManifestsOptions plain = of({"manifests"});
    EXPECT_EQ(plain.installation.namespace_, "kubeflow");
    EXPECT_EQ(plain.installation.watched, "");
    EXPECT_EQ(plain.installation.replicas, 2);
    EXPECT_TRUE(plain.installation.image.is_null());
    EXPECT_TRUE(plain.installation.admission_policies);
    EXPECT_FALSE(plain.installation.mpi);
    EXPECT_TRUE(of({"manifests", "--mpi"}).installation.mpi);
    EXPECT_FALSE(plain.installation.agent_tokens);
    EXPECT_TRUE(of({"manifests", "--agent-tokens"}).installation.agent_tokens);
    const ManifestsOptions full =
        of({"manifests", "--namespace", "team", "--install-namespace", "ops", "--image", "a/b:1",
            "--replicas", "3", "--without-admission-policy"});
    EXPECT_EQ(full.installation.watched, "team");
    EXPECT_EQ(full.installation.namespace_, "ops");
    EXPECT_EQ(full.installation.image, "a/b:1");
    EXPECT_EQ(full.installation.replicas, 3);
    EXPECT_FALSE(full.installation.admission_policies);
    EXPECT_TRUE(of({"manifests", "--crds-only"}).crds_only);
    EXPECT_EQ(of({"manifests", "--layout", "helm", "--output-dir", "d"}).layout, Layout::kHelm);
    for (const auto& [flags, words] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--namespace", "A_b"}, "--namespace wants the name of a namespace"},
             {{"--install-namespace", ""}, "--install-namespace wants the name of a namespace"},
             {{"--replicas", "0"}, "--replicas wants a number above 0"},
             {{"--layout", "tar", "--output-dir", "d"}, "--layout wants helm or kustomize"},
             {{"--layout", "helm"}, "--layout needs --output-dir"},
             {{"--output-dir", "d"}, "--output-dir needs --layout"},
             {{"--layout", "helm", "--output-dir", "d", "--crds-only"}, "leave --layout out"},
             {{"--layout", "helm", "--output-dir", "d", "-n", "a"}, "watchNamespace"}}) {
        std::vector<std::string> arguments{"manifests"};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        EXPECT_THAT(error_of(arguments), HasSubstr(words));
    }
}

TEST(CommandLine, HelpOfEachVerb) {
    for (std::string verb : {"run", "validate", "manifests", "version"}) {
        auto command = parse_command_line({verb, "--help"});
        ASSERT_TRUE(std::holds_alternative<Print>(command));
        EXPECT_EQ(std::get<Print>(command).exit_code, 0);
        EXPECT_EQ(std::get<Print>(command).out, help_text(verb));
    }
    EXPECT_THAT(std::string(help_text("")), HasSubstr("Usage: muster VERB"));
}

TEST(CommandLine, AWordThatIsAVerbsNameMayBeAnArgument) {
    EXPECT_EQ(options_of<HelpOptions>(parse_command_line({"help", "run"}))->verb, "run");
    EXPECT_EQ(options_of<HelpOptions>(parse_command_line({"help"}))->verb, "");
    EXPECT_EQ(options_of<LogsOptions>(parse_command_line({"logs", "run"}))->about, "run");
    EXPECT_THAT(options_of<GetOptions>(parse_command_line({"get", "pod", "up"}))->objects.words,
                ElementsAre("pod", "up"));
    EXPECT_THAT(error_of({"help", "run", "up"}), HasSubstr("what to do with \"up\""));
    EXPECT_THAT(error_of({"help", "--all"}), HasSubstr("unknown flag \"--all\""));
}

/// A flag that --help does not explain might as well not exist.
TEST(CommandLine, HelpOfRunNamesEveryFlag) {
    const std::string help(help_text("run"));
    for (const KnownVerb& verb : known_verbs()) {
        if (verb.name != "run") continue;
        EXPECT_GT(verb.flags.size(), 40U);
        for (const KnownFlag& flag : verb.flags)
            for (const std::string& name : flag.names)
                if (name != "-h" && name != "--help") EXPECT_THAT(help, HasSubstr(name)) << name;
    }
    for (std::string_view line = help_text("run"); !line.empty();) {
        std::size_t end = line.find('\n');
        EXPECT_LE(end, 105U) << line.substr(0, end);
        line.remove_prefix(std::min(line.size(), end + 1));
    }
}

TEST(Duration, Forms) {
    using std::chrono::milliseconds;
    EXPECT_EQ(parse_duration("90"), milliseconds(90'000));
    EXPECT_EQ(parse_duration("1.5s"), milliseconds(1'500));
    EXPECT_EQ(parse_duration("1h30m"), milliseconds(5'400'000));
    EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
    for (std::string_view bad : {"", "0", "-1", "1x", "s", "1h30", "1e99", "1e9h", "nan"})
        EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(YamlWriter, ReadsBackAsTheSameValue) {
    json::value value = json::parse(
        R"({"a":"text","b":"1","c":"yes","d":"","e":"a: b","f":"- x","g":"line\nline","h":[],"i":{},"j":[1,[2,{"k":null}],
        {"l":[true,-1.5]}],"m":{"n":{"o":"#"}},"true":"key","p":" lead","q":"tail ","r":"~","s":"0x1F","t":"\u00fc\ud83d\ude00",
        "u":"<<","v":"2020-01-01","w":"a #b","x":"back\\slash \"quoted\"","y/z.w":"500m"})");
    std::string text = manifest::to_yaml(value);
    manifest::Manifest manifest = manifest::read_manifest(text, "w.yaml");
    ASSERT_TRUE(manifest.problems.empty()) << text << format(manifest.problems[0]);
    EXPECT_EQ(manifest.documents.at(0).object, value) << text;
    EXPECT_EQ(json::parse(manifest::to_pretty_json(value)), value);
}

TEST(YamlWriter, LooksAsKubectlWritesIt) {
    EXPECT_EQ(manifest::to_yaml(json::parse(R"({"a":{"b":[{"c":1,"d":"x"},2]},"e":[]})")),
              "a:\n  b:\n  - c: 1\n    d: x\n  - 2\ne: []\n");
}

TEST(CommandLine, VerbsOfServersTakeTheirFlags) {
    const Command got = parse_command_line({"get", "pods", "a", "-n", "ml", "--context=c", "-o",
                                            "jsonpath={.x}", "-w", "--no-headers"});
    const auto* get = options_of<GetOptions>(got);
    ASSERT_NE(get, nullptr);
    EXPECT_THAT(get->objects.words, ElementsAre("pods", "a"));
    EXPECT_EQ(get->server.namespace_ + get->server.context, "mlc");
    EXPECT_EQ(get->format, ObjectFormat::kJsonPath);
    EXPECT_EQ(get->json_path, "{.x}");
    EXPECT_TRUE(get->watch && !get->headers);

    const Command gone = parse_command_line(
        {"delete", "-f", "a", "-f", "b", "--wait=false", "--cascade", "orphan", "--timeout", "0"});
    const auto* remove = options_of<DeleteOptions>(gone);
    ASSERT_NE(remove, nullptr);
    EXPECT_THAT(remove->objects.files, ElementsAre("a", "b"));
    EXPECT_FALSE(remove->wait);
    EXPECT_EQ(remove->cascade, Cascade::kOrphan);
    EXPECT_EQ(remove->timeout, std::chrono::nanoseconds(0));

    const Command log = parse_command_line(
        {"logs", "digits", "--rank", "1", "-f", "--tail=5", "--since", "2m", "-c", "main"});
    const auto* logs = options_of<LogsOptions>(log);
    ASSERT_NE(logs, nullptr);
    EXPECT_EQ(logs->rank, 1);
    EXPECT_EQ(logs->tail, 5);
    EXPECT_EQ(logs->since, std::chrono::minutes(2));
    EXPECT_TRUE(logs->follow);

    const Command typed = parse_command_line({"__complete", "get", "--namespace", ""});
    const auto* line = options_of<CompleteOptions>(typed);
    ASSERT_NE(line, nullptr);
    EXPECT_THAT(line->words, ElementsAre("get", "--namespace", ""));
}

TEST(CommandLine, VerbsAboutVersionsAndFields) {
    const Command written =
        parse_command_line({"convert", "a", "-f", "b", "--to", "MPIJob/v2beta1", "-o", "json"});
    const auto* convert = options_of<ConvertOptions>(written);
    ASSERT_NE(convert, nullptr);
    EXPECT_THAT(convert->files, ElementsAre("a", "b"));
    EXPECT_EQ(convert->to_kind + " " + convert->to_version, "MPIJob v2beta1");
    EXPECT_EQ(convert->output, OutputFormat::kJson);
    for (const char* to : {"v1", "kubeflow.org/v1"}) {
        const Command any = parse_command_line({"convert", "-", "--to", to});
        EXPECT_EQ(options_of<ConvertOptions>(any)->to_kind, "");
        EXPECT_EQ(options_of<ConvertOptions>(any)->to_version, "v1");
    }

    const Command field = parse_command_line({"explain", "pytorchjob.spec", "--recursive"});
    EXPECT_EQ(options_of<ExplainOptions>(field)->path, "pytorchjob.spec");
    EXPECT_TRUE(options_of<ExplainOptions>(field)->recursive);
    for (const char* file : {"job.yaml", "./job", "-", "job.json"}) {
        const Command of = parse_command_line({"explain", file, "--rank", "worker-3"});
        EXPECT_THAT(options_of<ExplainOptions>(of)->files, ElementsAre(file));
        EXPECT_EQ(options_of<ExplainOptions>(of)->rank, "worker-3");
    }

    struct Row {
        std::vector<std::string> line;
        const char* told;
    };
    const Row kRows[] = {
        {{"convert"}, "name a manifest"},
        {{"convert", "a", "--to", "pytorchjob/"}, "--to wants KIND/VERSION"},
        {{"convert", "a", "--to", "/v1"}, "--to wants KIND/VERSION"},
        {{"convert", "a", "--to", "a/b/c"}, "--to wants KIND/VERSION"},
        {{"convert", "a", "-o", "table"}, "--output wants json or yaml"},
        {{"explain"}, "name a manifest, or a field"},
        {{"explain", "pod", "a.yaml"}, "not both"},
        {{"explain", "pod", "job"}, "one field at a time"},
        {{"explain", "pod", "--rank", "x-1"}, "go with a manifest"},
        {{"explain", "pod", "--in-pods-image", "x"}, "go with a manifest"},
        {{"explain", "a.yaml", "--recursive"}, "go with a field"},
    };
    for (const Row& row : kRows) EXPECT_THAT(error_of(row.line), HasSubstr(row.told));
}

TEST(CommandLine, VerbsOfServersSayWhatTheyWant) {
    struct Row {
        std::vector<std::string> line;
        const char* told;
    };
    const Row kRows[] = {
        {{"get"}, "name a kind"},
        {{"get", "pods", "-o", "xml"}, "--output wants wide, json"},
        {{"get", "pods", "-o", "jsonpath="}, "no template"},
        {{"delete"}, "name what to delete"},
        {{"delete", "pods", "-f", "x"}, "not both"},
        {{"delete", "pod", "a", "--grace-period=0"}, "--force"},
        {{"delete", "pod", "a", "--grace-period=-1"}, "seconds"},
        {{"delete", "pod", "a", "--force", "--grace-period=5"}, "leave out --grace-period"},
        {{"delete", "pod", "a", "--cascade=no"}, "--cascade wants"},
        {{"apply"}, "name a manifest"},
        {{"wait"}, "name what to wait for"},
        {{"wait", "pod/a"}, "--for"},
        {{"wait", "pod/a", "--for=delete", "--timeout=soon"}, "--timeout wants"},
        {{"logs"}, "name a run or a job"},
        {{"logs", "a", "--rank=-1"}, "--rank wants"},
        {{"logs", "a", "--since=yesterday"}, "--since wants"},
        {{"logs", "a", "-f", "-p"}, "do not go together"},
        {{"describe"}, "name what to describe"},
        {{"top"}, "muster top pods"},
        {{"completion", "csh"}, "bash, zsh and fish"},
    };
    for (const Row& row : kRows) EXPECT_THAT(error_of(row.line), HasSubstr(row.told));
}

TEST(CommandLine, FaultInjectionsTakeTheirFlags) {
    const Command killed = parse_command_line(
        {"kill", "digits", "worker-1", "--signal", "term", "--rank", "3", "-n", "ml"});
    const auto* kill = options_of<FaultInjectionOptions>(killed);
    ASSERT_NE(kill, nullptr);
    EXPECT_EQ(kill->kind, FaultKind::kKill);
    EXPECT_EQ(kill->namespace_ + " " + kill->job + " " + kill->replica, "ml digits worker-1");
    EXPECT_EQ(kill->signal, 15);
    EXPECT_EQ(kill->rank, 3);
    const Command plain = parse_command_line({"kill", "digits"});
    EXPECT_EQ(options_of<FaultInjectionOptions>(plain)->signal, 9);
    EXPECT_EQ(options_of<FaultInjectionOptions>(plain)->replica, "");
    for (const auto& [name, verb] :
         {std::pair("pause", FaultKind::kPause), std::pair("partition", FaultKind::kPartition)}) {
        const Command held = parse_command_line({name, "digits", "worker-1", "--for", "10s"});
        const auto* injected = options_of<FaultInjectionOptions>(held);
        ASSERT_NE(injected, nullptr) << name;
        EXPECT_EQ(injected->kind, verb);
        EXPECT_EQ(injected->duration, std::chrono::seconds(10));
        const Command open = parse_command_line({name, "digits"});
        EXPECT_EQ(options_of<FaultInjectionOptions>(open)->duration, std::nullopt);
    }

    struct Row {
        std::vector<std::string> line;
        const char* told;
    };
    const Row kRows[] = {
        {{"kill"}, "as in 'muster kill digits worker-1'"},
        {{"partition"}, "as in 'muster partition digits worker-1'"},
        {{"kill", "a", "b", "c"}, "kill does not know what to do with \"c\""},
        {{"kill", "a", "--signal", "loud"}, "--signal wants a name or a number"},
        {{"kill", "a", "--signal", "0"}, "--signal wants a name or a number"},
        {{"kill", "a", "--rank=-1"}, "--rank wants"},
        {{"kill", "a", "--for", "1s"}, "unknown flag \"--for\""},
        {{"pause", "a", "--for", "soon"}, "--for wants a duration"},
        {{"pause", "a", "--signal", "9"}, "unknown flag \"--signal\""},
        {{"kill", "a", "b", "--context", "prod"}, "'kubectl exec POD -- kill'"},
        {{"partition", "a", "b", "--kubeconfig", "k"}, "a cluster's nodes take no such orders"},
    };
    for (const Row& row : kRows) EXPECT_THAT(error_of(row.line), HasSubstr(row.told));
}

TEST(CommandLine, EveryVerbHasAHelpOfItsOwn) {
    for (const KnownVerb& verb : known_verbs()) {
        ASSERT_NE(make_verb(verb.name), nullptr) << verb.name;
        EXPECT_EQ(make_verb(verb.name)->name(), verb.name);
        if (verb.name != "help") EXPECT_NE(help_text(verb.name), help_text("")) << verb.name;
    }
}

}  // namespace
}  // namespace muster::cli::command_line_test
