#include "tests/slurm/cluster.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/needs.h"

namespace kbench::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Ports that nobody listens on, all different.
std::vector<int> free_ports(size_t count) {
  std::vector<int> sockets, ports;
  for (size_t i = 0; i < count; ++i) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    const int each = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(each);
    if (bind(each, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(each, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no free port");
    }
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int each : sockets) close(each);
  return ports;
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return whole.substr(0, whole.find('.'));
}

/// The last lines of a log, as one.
std::string end_of(const fs::path& log) {
  std::string text = read_file(log);
  while (text.ends_with('\n')) text.pop_back();
  text = text.substr(text.size() - std::min<size_t>(text.size(), 300));
  for (char& c : text) c = c == '\n' ? ';' : c;
  return text;
}

}  // namespace

Cluster::Cluster() {
  for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue"}) {
    if (run("command -v " + std::string(program)).code != 0) {
      has(false, std::string(program) + " (Debian: slurm-wlm)");
      missing_ = "no Slurm";
      return;
    }
  }
  has(true, "Slurm (Debian: slurm-wlm)");
  // munged wants a folder that everybody can enter.
  fs::permissions(folder_.path(), fs::perms(0755));
  configure();
  missing_ = start();
}

Cluster::~Cluster() {
  run("scancel --quiet --user=\"$(id -un)\"; for i in $(seq 100); do "
      "[ -z \"$(squeue -h)\" ] && break; sleep 0.1; done");
  for (const char* name : {"slurmd", "slurmctld", "munged"}) {
    const pid_t process = std::atoi(read_file(folder_ / (std::string(name) + ".pid")).c_str());
    if (process <= 0) continue;
    kill(process, SIGTERM);
    for (int i = 0; i < 500 && kill(process, 0) == 0; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
    }
  }
}

Said Cluster::run(const std::string& script) const {
  return run_in_shell("SLURM_CONF=" + folder_.path() + "/slurm.conf; export SLURM_CONF; cd " +
                      folder_.path() + "; " + script);
}

void Cluster::configure() const {
  std::string key(1024, '\0');
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    throw std::runtime_error("no random numbers");
  }
  write_file(folder_ / "munge.key", key);
  fs::permissions(folder_ / "munge.key", fs::perms(0600));
  for (const char* name : {"state", "spool"}) fs::create_directory(folder_ / name);
  const std::string host = host_name();
  std::string user = run("id -un").out;
  user.resize(user.find('\n'));
  const std::string folder = folder_.path();
  const std::vector<int> ports = free_ports(2);
  // As many tasks at once as there are processors, no accounting, no cgroups.
  write_file(folder_ / "slurm.conf",
             "ClusterName=kbench\n"
             "SlurmctldHost=" +
                 host +
                 "(127.0.0.1)\n"
                 "AuthType=auth/munge\n"
                 "AuthInfo=socket=" +
                 folder +
                 "/munge.socket\n"
                 "SlurmUser=" +
                 user +
                 "\n"
                 "SlurmdUser=" +
                 user +
                 "\n"
                 "SlurmctldPort=" +
                 std::to_string(ports[0]) +
                 "\n"
                 "SlurmdPort=" +
                 std::to_string(ports[1]) +
                 "\n"
                 "StateSaveLocation=" +
                 folder +
                 "/state\n"
                 "SlurmdSpoolDir=" +
                 folder +
                 "/spool\n"
                 "SlurmctldPidFile=" +
                 folder +
                 "/slurmctld.pid\n"
                 "SlurmdPidFile=" +
                 folder +
                 "/slurmd.pid\n"
                 "SlurmctldLogFile=" +
                 folder +
                 "/slurmctld.log\n"
                 "SlurmdLogFile=" +
                 folder +
                 "/slurmd.log\n"
                 "ProctrackType=proctrack/linuxproc\n"
                 "TaskPlugin=task/none\n"
                 "JobAcctGatherType=jobacct_gather/none\n"
                 "AccountingStorageType=accounting_storage/none\n"
                 "SelectType=select/cons_tres\n"
                 "SelectTypeParameters=CR_CPU\n"
                 "SwitchType=switch/none\n"
                 "MpiDefault=none\n"
                 "ReturnToService=2\n"
                 "KillWait=2\n"
                 "MinJobAge=3600\n"
                 "SchedulerParameters=batch_sched_delay=0,sched_interval=1\n"
                 "NodeName=" +
                 host +
                 " NodeAddr=127.0.0.1 CPUs=" + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
                 " State=UNKNOWN\n"
                 "PartitionName=all Nodes=" +
                 host + " Default=YES MaxTime=INFINITE State=UP\n");
}

std::string Cluster::start() {
  const std::string folder = folder_.path();
  const Said munge = run("munged --key-file=" + folder + "/munge.key --socket=" + folder +
                         "/munge.socket --pid-file=" + folder + "/munged.pid --log-file=" + folder +
                         "/munged.log --seed-file=" + folder + "/munge.seed");
  if (munge.code != 0)
    return "munged does not start: " + end_of(folder_ / "munged.log") + munge.err;
  for (const std::string daemon : {"slurmctld", "slurmd"}) {
    const Said said = run(daemon);
    if (said.code != 0) {
      return daemon + " does not start: " + end_of(folder_ / (daemon + ".log")) + said.err;
    }
  }
  for (int i = 0; i < 1200; ++i) {
    if (run("sinfo -h -o %t").out == "idle\n") return "";
    std::this_thread::sleep_for(milliseconds(100));
  }
  return "the node does not come up: " + end_of(folder_ / "slurmctld.log") + "; " +
         end_of(folder_ / "slurmd.log");
}

}  // namespace kbench::testing
