// Any text: it leads to a server, or is refused with the name of the file.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cli/internal/connect/kubeconfig_merge.h"
#include "kube/client_config/client_config.h"
#include "kube/client_config/exec_credential.h"

using namespace muster;
using namespace muster::cli;
using namespace muster::kube;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const Result<MergedKubeconfig> config = merge_kubeconfigs({{"/k/config", text}});
    if (!config) {
        CHECK(config.error().message().starts_with("/k/config"), "a refusal names its file");
        return 0;
    }
    const Result<MergedKubeconfig> twice =
        merge_kubeconfigs({{"/k/config", text}, {"/k/config", text}});
    CHECK(twice && twice->contexts.size() == config->contexts.size(),
          "a file after itself adds nothing");
    for (const auto& [name, entry] : config->contexts) {
        const Result<ClientConfig> access = select_access(*config, name);
        if (!access) {
            CHECK(!access.error().message().empty(), "a refusal says why");
            continue;
        }
        CHECK(!access->url.host.empty(), "a server has a host");
        const Result<ServerUrl> again = parse_server_url(access->url.text(), false);
        CHECK(again && *again == access->url, "a URL is read as it is written");
        if (access->exec) (void)parse_exec_credential(*access->exec, text);
    }
    return 0;
}
