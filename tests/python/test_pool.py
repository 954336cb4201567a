"""kbench.Client and two servers: named by the client, and behind nginx as docs/cluster has it."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

import kbench
from devices import expect_device
from served import QUICK, Served, expect_installed

DOCS = Path(__file__).parents[2] / "docs"
TOKEN = "a-token-for-the-tests"


def unused_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class TwoServers(unittest.TestCase):
    def setUp(self) -> None:
        expect_device("cpu")
        self.servers = [Served(token=TOKEN), Served(token=TOKEN)]
        for each in self.servers:
            self.addCleanup(each.end)

    def evaluated(self, server: Served) -> int:
        request = urllib.request.Request(server.url + "/metrics")
        request.add_header("Authorization", f"Bearer {TOKEN}")
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        counts = re.findall(r"^kbench_experiments_total\{.*\} (\d+)", text, re.M)
        return sum(int(count) for count in counts)

    def one_dies(self, client: kbench.Client) -> None:
        """Both have work, one is killed, and every experiment has one result."""
        right = kbench.built_in_candidate("1/19", "smoke")
        wrong = right.replace("op: relu", "op: tanh")
        results: dict[int, str] = {}
        candidates = ({"candidate.yaml": (right, wrong)[i % 2]} for i in range(12))
        with client:
            compiled = list(client.evaluate_many([{"candidate.yaml": right}] * 32, check=True))
            self.assertEqual([self.evaluated(server) > 0 for server in self.servers], [True] * 2)
            self.assertEqual(sum(self.evaluated(server) for server in self.servers), len(compiled))
            for index, result in client.evaluate_many(candidates):
                self.assertNotIn(index, results)
                results[index] = result.verdict
                if len(results) == 3:
                    self.servers[0].process.send_signal(signal.SIGKILL)
        self.assertEqual(results, {i: ("passed", "wrong_values")[i % 2] for i in range(12)})


class Pool(TwoServers):
    def test_the_client_spreads_over_servers(self) -> None:
        urls = [server.url for server in self.servers]
        self.one_dies(kbench.Client(urls, TOKEN, QUICK, in_flight=2))


class PoolBehindNginx(TwoServers):
    def test_behind_nginx(self) -> None:
        nginx = expect_installed("nginx", "nginx-light")
        openssl = expect_installed("openssl", "openssl")
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        folder = Path(kept.name)
        certificate, key, port = folder / "certificate.pem", folder / "key.pem", unused_port()
        subprocess.run(
            [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
             "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=here",
             "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True,
        )  # fmt: skip
        page = (DOCS / "cluster.md").read_text()
        text = page.split("```nginx\n")[1].split("```\n")[0]
        changes = {
            "gpu1:8000": f"127.0.0.1:{self.servers[0].port}",
            "gpu2:8000": f"127.0.0.1:{self.servers[1].port}",
            "/etc/ssl/kbench/": f"{folder}/",
            "443": f"127.0.0.1:{port}",
        }
        for old in changes:
            self.assertIn(old, text)
        # In one pass: a server's port may itself hold "443".
        text = re.sub("|".join(map(re.escape, changes)), lambda found: changes[found[0]], text)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        user = "user root;\n" if os.geteuid() == 0 else ""
        conf = folder / "whole.conf"
        conf.write_text(
            f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/log;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}{text}}}\n"
        )
        proxy = subprocess.Popen([nginx, "-e", folder / "log", "-p", folder, "-c", conf])
        self.addCleanup(proxy.wait)
        self.addCleanup(proxy.terminate)
        url = f"https://127.0.0.1:{port}"
        client = kbench.Client(url, TOKEN, QUICK, in_flight=4, ca_file=certificate)
        end = time.monotonic() + 120
        while client.health()[0].status != "ok":
            if time.monotonic() > end or proxy.poll() is not None:
                self.fail((folder / "log").read_text())
            time.sleep(0.05)
        self.one_dies(client)


if __name__ == "__main__":
    unittest.main()
