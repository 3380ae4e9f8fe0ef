"""Two nodes on this machine, each with a network namespace and a hosts file of its own, joined by two networks."""

import json
import subprocess

# Where each node has its interfaces: node 0 and 1 in the first network, and in the second.
NETWORKS = (("10.88.1.{}", "fd00:88:1::{}"), ("10.88.2.{}", "fd00:88:2::{}"))
HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"
BEGIN = 'mount --make-rprivate / && mount --bind "$1" /etc/hosts && ip link set lo up && echo ready && exec sleep infinity'


class Unavailable(Exception):
    """Networks can't be made here."""


class Node:
    def __init__(self, place, number):
        self.hosts = place / f"hosts-{number}"
        self.name_is()
        self.holder = subprocess.Popen(["unshare", "--mount", "--net", "sh", "-c", BEGIN, "sh", self.hosts], text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.holder.stdout.readline() != "ready\n":
            raise Unavailable(self.holder.communicate()[1].strip())

    def name_is(self, *addresses):
        """The name of the node where the others meet has these addresses, as this node sees it."""
        with open(self.hosts, "w", encoding="ascii") as file:
            file.write(HOSTS + "".join(f"{address} first-node\n" for address in addresses))

    @property
    def within(self):
        """What a command begins with to run there."""
        # Its root, too: that of the namespace is another one where the tests run in a root of their own.
        return ["nsenter", "--target", str(self.holder.pid), "--mount", "--net", "--root"]

    def accepts_from_anywhere(self):
        """What arrives over another network than an answer would take is not dropped."""
        subprocess.run([*self.within, "sh", "-c", "for each in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$each; done"],
                       check=True, stdin=subprocess.DEVNULL)

    def bytes_of(self, network):
        """How many it has sent and received in that network."""
        shown = subprocess.run([*self.within, "ip", "-s", "-j", "link", "show", f"net{network}"], check=True, text=True,
                               capture_output=True).stdout
        counted = json.loads(shown)[0]["stats64"]
        return counted["tx"]["bytes"], counted["rx"]["bytes"]

    def ip(self, *words):
        subprocess.run([*self.within, "ip", *words], check=True)


class TwoNodes:
    def __init__(self, place):
        self.nodes = []
        try:
            for number in range(2):
                self.nodes.append(Node(place, number))
            self.join()
        except (FileNotFoundError, subprocess.CalledProcessError) as why:
            self.close()
            raise Unavailable(str(why)) from None
        except Unavailable:
            self.close()
            raise

    def join(self):
        first, second = (str(node.holder.pid) for node in self.nodes)
        for network, addresses in enumerate(NETWORKS):
            name = f"net{network}"
            subprocess.run(["ip", "link", "add", name, "netns", first, "type", "veth", "peer", "name", name, "netns", second],
                           check=True, capture_output=True)
            for number, node in enumerate(self.nodes):
                v4, v6 = (address.format(number + 1) for address in addresses)
                node.ip("address", "add", f"{v4}/24", "dev", name)
                node.ip("address", "add", f"{v6}/64", "dev", name, "nodad")
                node.ip("link", "set", name, "up")

    def route_one_way_each(self):
        """Each has an address of its own besides, 10.88.9.1 and .2: what the first sends takes the first network, what the second
        sends the other one."""
        for number, node in enumerate(self.nodes):
            node.accepts_from_anywhere()
            node.ip("address", "add", f"10.88.9.{number + 1}/32", "dev", "lo")
            gateway = NETWORKS[number][0].format(2 - number)
            node.ip("route", "add", f"10.88.9.{2 - number}/32", "via", gateway, "src", f"10.88.9.{number + 1}")

    def close(self):
        for node in self.nodes:
            node.holder.kill()
            node.holder.communicate()
