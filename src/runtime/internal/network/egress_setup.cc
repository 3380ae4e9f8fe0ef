#include "runtime/internal/network/egress_setup.h"

#include <fstream>
#include <sstream>

#include "base/log.h"
#include "runtime/internal/network/resolv_conf.h"

namespace muster::runtime {

namespace {

namespace fs = std::filesystem;

constexpr const char* kMachine = "/etc/resolv.conf";
constexpr const char* kBehindLoopback = "/run/systemd/resolve/resolv.conf";

std::string content_of(const char* path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return std::move(text).str();
}

}  // namespace

EgressSetup set_up_egress(const asio::any_io_executor& executor, PodFabric& fabric,
                          const std::vector<std::string>& environment, const fs::path& directory) {
    EgressSetup setup;
    const ResolvConf names = resolv_conf_with_egress(
        content_of(kMachine), content_of(kBehindLoopback), Egress::kNameForwarder);
    auto way = Egress::open(executor, fabric, environment, names.forwarded);
    if (way)
        setup.egress = *std::move(way);
    else
        setup.notice = fmt::format(
            "pods reach each other, but nothing outside of this machine; connections there are "
            "refused at once: {}",
            way.error().message());
    std::error_code error;
    if (!fs::is_regular_file(kMachine, error)) return setup;
    const fs::path file = directory / "resolv.conf";
    std::ofstream out(file);
    out << (setup.egress ? names.text : resolv_conf_without_egress(PodFabric::kGateway));
    out.close();
    fs::permissions(file, fs::perms(0644), error);
    if (out && !error)
        setup.resolv_conf = file;
    else
        log::warning(
            "pods keep this machine's /etc/resolv.conf, whose name servers they may not "
            "reach: their own can't be written",
            {{"file", file.string()}});
    return setup;
}

Task<void> watch_egress(Egress& way) {
    const std::string said = co_await way.ended();
    log::warning("pods no longer reach anything outside of this machine: pasta has ended",
                 {{"said", said}});
}

}  // namespace muster::runtime
