#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <sstream>

#include "harness/measure/runner/lock_in.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench::runner {
namespace {

/// All that a runner on a software device may call: computing, threads, descriptors that are open
/// already. None of these calls takes a path.
constexpr const char* kAllowed =
    // memory
    "brk madvise membarrier mmap mprotect mremap munmap "
    // threads
    "exit exit_group futex futex_time64 futex_waitv get_robust_list getcpu gettid rseq "
    "sched_getaffinity sched_getparam sched_getscheduler sched_yield set_robust_list "
    "set_tid_address "
    // open descriptors
    "close dup dup2 dup3 fstat lseek poll ppoll pread64 read readv recvfrom recvmsg sendmsg sendto "
    "shutdown write writev "
    // clocks
    "clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time "
    // the process itself
    "getegid geteuid getgid getpid getppid getrandom getrlimit getrusage getuid restart_syscall "
    "rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack sysinfo times uname";

/// Denied to every other process that is locked in.
constexpr const char* kDenied =
    // other processes
    "ioprio_set kcmp migrate_pages pidfd_getfd pidfd_open pidfd_send_signal process_madvise "
    "process_mrelease process_vm_readv process_vm_writev ptrace rt_sigqueueinfo rt_tgsigqueueinfo "
    "setpriority setsid tkill "
    // sockets
    "accept accept4 bind connect listen socket "
    // the tree of file systems, namespaces
    "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root "
    "setns umount umount2 unshare name_to_handle_at open_by_handle_at inotify_add_watch "
    "fanotify_init "
    // administration of the kernel, and rarely used parts of it
    "acct add_key adjtimex bpf clock_adjtime clock_settime delete_module finit_module init_module "
    "io_setup io_submit io_uring_enter io_uring_register io_uring_setup ioperm iopl "
    "kexec_file_load kexec_load keyctl lookup_dcookie modify_ldt nfsservctl perf_event_open "
    "personality quotactl reboot request_key setdomainname sethostname settimeofday swapoff swapon "
    "syslog userfaultfd vhangup "
    // queues and memory found by number
    "mq_open msgget semget shmget";

/// Denied to a runner on a GPU too: what no driver needs once its device is open.
constexpr const char* kDeniedToRunners =
    // programs and processes
    "execve execveat fork setpgid vfork "
    // names and attributes of files
    "chmod chown creat fchmod fchmodat fchown fchownat fremovexattr fsetxattr futimesat lchown "
    "link linkat lremovexattr lsetxattr mkdir mkdirat mknod mknodat removexattr rename renameat "
    "renameat2 rmdir setxattr symlink symlinkat truncate unlink unlinkat utime utimensat utimes "
    // queues and memory found by number
    "mq_unlink msgctl msgrcv msgsnd semctl semop semtimedop shmat shmctl "
    // identity
    "capset setfsgid setfsuid setgid setgroups setregid setresgid setresuid setreuid setuid";

/// Denied to Triton's Python process too, which starts programs and writes files where Landlock
/// allows it.
constexpr const char* kDeniedToPython = "kill tgkill timer_create socketpair seccomp";

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A filter that is being built. The first error is remembered and reported by load().
class Filter {
 public:
  explicit Filter(uint32_t otherwise) : context_(seccomp_init(otherwise), seccomp_release) {
    if (context_ == nullptr) {
      error_ = -ENOMEM;
      return;
    }
    set(SCMP_FLTATR_CTL_TSYNC, 1);  // all threads
    set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree, not a list
    set(SCMP_FLTATR_CTL_SSB, 1);       // otherwise kernels before 5.16 slow down all computing
  }

  /// Applies to every call of that name whose arguments satisfy all of `tests`. A call that
  /// libseccomp or this processor does not have is left out.
  void add(uint32_t action, const std::string& call,
           std::initializer_list<scmp_arg_cmp> tests = {}) {
    const int number = seccomp_syscall_resolve_name(call.c_str());
    if (error_ != 0 || number == __NR_SCMP_ERROR) return;
    error_ = seccomp_rule_add_array(context_.get(), action, number,
                                    static_cast<unsigned>(tests.size()), tests.begin());
    if (error_ != 0) failed_ = call + ": ";
  }

  /// Every call in the lists, with any arguments.
  void add_all(uint32_t action, std::initializer_list<const char*> lists) {
    for (const char* list : lists) {
      for (const std::string& call : words(list)) add(action, call);
    }
  }

  /// What the kernel is given: an array of sock_filter. Throws kInternal.
  std::vector<uint8_t> program() {
    const UniqueFd file(memfd_create("filter", MFD_CLOEXEC));
    if (error_ == 0 && file.open()) error_ = seccomp_export_bpf(context_.get(), file.get());
    if (error_ != 0 || !file.open()) {
      throw Error(ErrorCode::kInternal, "no filter of system calls: " + failed_ +
                                            std::strerror(error_ != 0 ? -error_ : errno));
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(lseek(file.get(), 0, SEEK_END)));
    if (pread(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      throw Error(ErrorCode::kInternal, "no filter of system calls: it cannot be read");
    }
    return bytes;
  }

  LockLayer load(const std::string& what) {
    if (error_ == 0) error_ = seccomp_load(context_.get());
    return {.name = "system_calls",
            .holds = error_ == 0,
            .detail = error_ == 0 ? what : failed_ + std::strerror(-error_)};
  }

 private:
  void set(scmp_filter_attr attribute, uint32_t value) {
    if (error_ == 0) error_ = seccomp_attr_set(context_.get(), attribute, value);
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
  std::string failed_;  ///< the call whose rule failed
};

constexpr uint32_t kDeny = SCMP_ACT_ERRNO(EPERM);
constexpr uint32_t kUnknown = SCMP_ACT_ERRNO(ENOSYS);

scmp_arg_cmp is(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp is_not(unsigned argument, uint64_t value) { return {argument, SCMP_CMP_NE, value, 0}; }
scmp_arg_cmp has(unsigned argument, uint64_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, bits, bits};
}
scmp_arg_cmp lacks(unsigned argument, uint64_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, bits, 0};
}

uint64_t own_pid() { return static_cast<uint64_t>(getpid()); }

LockLayer allow_computing() {
  Filter filter(kDeny);
  filter.add_all(SCMP_ACT_ALLOW, {kAllowed});
  filter.add(SCMP_ACT_ALLOW, "clone", {has(0, CLONE_THREAD)});
  // abort(). Any other signal would look as if sent from outside.
  filter.add(SCMP_ACT_ALLOW, "tgkill", {is(0, own_pid()), is(2, SIGABRT)});
  filter.add(SCMP_ACT_ALLOW, "newfstatat", {has(3, AT_EMPTY_PATH)});  // fstat()
  filter.add(SCMP_ACT_ALLOW, "prctl", {is(0, PR_SET_NAME)});
  filter.add(SCMP_ACT_ALLOW, "prctl", {is(0, PR_GET_NAME)});
  filter.add(SCMP_ACT_ALLOW, "prlimit64", {is(0, 0), is(2, 0)});  // getrlimit()
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC}) {
    filter.add(SCMP_ACT_ALLOW, "fcntl", {is(1, static_cast<uint64_t>(command))});
  }
  for (const char* call : {"clone3", "faccessat2", "openat2", "statx"}) filter.add(kUnknown, call);
  return filter.load("all denied but computing, threads and open descriptors");
}

LockLayer deny_escapes() {
  Filter filter(SCMP_ACT_ALLOW);
  filter.add_all(kDeny, {kDenied, kDeniedToRunners});
  filter.add(kDeny, "clone", {lacks(0, CLONE_THREAD)});
  for (const char* call : {"kill", "tgkill"}) filter.add(kDeny, call, {is_not(0, own_pid())});
  for (const uint64_t signal : {SIGKILL, SIGTERM}) {  // would look as if sent from outside
    filter.add(kDeny, "kill", {is(1, signal)});
    filter.add(kDeny, "tgkill", {is(2, signal)});
  }
  // Only for the calling thread (0): another number may be a thread of another process.
  for (const char* call : {"sched_setaffinity", "sched_setattr", "sched_setparam",
                           "sched_setscheduler", "prlimit64", "move_pages"}) {
    filter.add(kDeny, call, {is_not(0, 0)});
  }
  for (const int operation : {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_PTRACER, PR_SET_MM}) {
    filter.add(kDeny, "prctl", {is(0, static_cast<uint64_t>(operation))});
  }
  for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG}) {
    filter.add(kDeny, "fcntl", {is(1, static_cast<uint64_t>(command))});
  }
  filter.add(kDeny, "ioctl", {is(1, TIOCSTI)});  // types into its terminal
  filter.add(kDeny, "open", {has(1, O_CREAT)});
  filter.add(kDeny, "openat", {has(2, O_CREAT)});
  for (const char* call : {"clone3", "openat2"}) filter.add(kUnknown, call);
  return filter.load("no programs, processes, sockets or new files, nothing of other processes");
}

}  // namespace

LockLayer restrict_system_calls(bool software_device) {
  return software_device ? allow_computing() : deny_escapes();
}

namespace {

Filter filter_of_python() {
  Filter filter(SCMP_ACT_ALLOW);
  filter.add_all(kDeny, {kDenied, kDeniedToPython});
  // Ninja gives each compiler a group of its own, and fails where it cannot: it is told that it
  // has.
  filter.add(SCMP_ACT_ERRNO(0), "setpgid");
  for (const int operation :
       {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_PTRACER, PR_SET_MM, PR_SET_CHILD_SUBREAPER}) {
    filter.add(kDeny, "prctl", {is(0, static_cast<uint64_t>(operation))});
  }
  filter.add(kDeny, "ioctl", {is(1, TIOCSTI)});
  // Only for the calling thread (0): another number may be a thread of another process.
  for (const char* call : {"sched_setaffinity", "sched_setattr", "sched_setparam",
                           "sched_setscheduler", "prlimit64", "move_pages"}) {
    filter.add(kDeny, call, {is_not(0, 0)});
  }
  // Beyond such a limit the kernel sends SIGKILL, which would look as if sent from outside.
  filter.add(kDeny, "setrlimit", {is(0, RLIMIT_CPU)});
  filter.add(kDeny, "prlimit64", {is(1, RLIMIT_CPU), is_not(2, 0)});
  // Signals that would wake it when it is stopped.
  for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG}) {
    filter.add(kDeny, "fcntl", {is(1, static_cast<uint64_t>(command))});
  }
  constexpr uint64_t kExitSignal = 0xff;
  filter.add(kDeny, "clone", {{0, SCMP_CMP_MASKED_EQ, kExitSignal, SIGCONT}});
  // In a namespace of its own it would have all rights.
  for (const uint64_t space : {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS, CLONE_NEWNET}) {
    filter.add(kDeny, "clone", {has(0, space)});
  }
  for (const char* call : {"clone3", "openat2"}) filter.add(kUnknown, call);
  return filter;
}

}  // namespace

std::vector<uint8_t> program_of_python_filter() {
  static const std::vector<uint8_t> program = filter_of_python().program();
  return program;
}

}  // namespace kbench::runner
