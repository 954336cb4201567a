#include "tests/models/scripted_server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace kbench::testing {
namespace {

using Json = nlohmann::json;

template <class T, void (*free)(T*)>
struct Freed {
  void operator()(T* object) const { free(object); }
};
using KeyPair = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509, X509_free>>;

Certificate signed_by_itself(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509* x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key);
  X509_NAME* name = X509_get_subject_name(x);
  const auto* host = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(x, name);
  X509_EXTENSION* also =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_add_ext(x, also, -1);
  X509_EXTENSION_free(also);
  X509_sign(x, key, EVP_sha256());
  return certificate;
}

}  // namespace

class ScriptedServer::State {
 public:
  State(std::unique_ptr<httplib::Server> server, Answering answering)
      : server_(std::move(server)), answering_(std::move(answering)) {
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      reply(request, response);
    };
    server_->new_task_queue = [] { return new httplib::ThreadPool(16); };
    server_->Post(".*", handle);
    server_->Get(".*", handle);
    port = server_->bind_to_any_port("127.0.0.1");
    if (port <= 0) throw std::runtime_error("the test's server has no port");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      going_ = true;
    }
    gone_.notify_all();
    server_->stop();
    thread_.join();
    if (!certificate.empty()) std::filesystem::remove(certificate);
  }

  std::vector<Seen> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  int port = 0;
  std::string scheme = "http", host = "127.0.0.1";
  std::string certificate;

 private:
  void hold() {
    std::unique_lock lock(mutex_);
    gone_.wait(lock, [&] { return going_; });
  }
  void reply(const httplib::Request& request, httplib::Response& response) {
    Seen seen{request.method, request.target, request.body, {}};
    for (const auto& [name, value] : request.headers) seen.headers[name] = value;
    size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = seen_.size();
      seen_.push_back(seen);
    }
    const Line line = answering_(seen, number);
    if (line.hold_head) hold();
    response.status = line.status;
    for (const auto& [name, value] : line.headers) response.set_header(name, value);
    if (line.pieces.empty()) {
      response.set_content(line.body, line.type);
      return;
    }
    response.set_chunked_content_provider(line.type, [this, line](size_t, httplib::DataSink& sink) {
      for (const std::string& piece : line.pieces) sink.write(piece.data(), piece.size());
      if (line.end == Line::End::hold) hold();
      if (line.end != Line::End::clean) return false;
      sink.done();
      return true;
    });
  }

  std::unique_ptr<httplib::Server> server_;
  Answering answering_;
  mutable std::mutex mutex_;
  std::condition_variable gone_;
  bool going_ = false;
  std::vector<Seen> seen_;
  std::thread thread_;
};

namespace {

ScriptedServer::Answering in_order(std::vector<Line> script) {
  return [script = std::move(script)](const Seen&, size_t number) {
    return script.at(std::min(number, script.size() - 1));
  };
}

}  // namespace

ScriptedServer::ScriptedServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
ScriptedServer::ScriptedServer(std::vector<Line> script)
    : ScriptedServer(in_order(std::move(script))) {}
ScriptedServer::ScriptedServer(Answering answering)
    : state_(std::make_unique<State>(std::make_unique<httplib::Server>(), std::move(answering))) {}
ScriptedServer::~ScriptedServer() = default;

std::unique_ptr<ScriptedServer> ScriptedServer::with_tls(std::vector<Line> script) {
  const KeyPair key(EVP_EC_gen("P-256"));
  const Certificate certificate = signed_by_itself(key.get());
  auto state =
      std::make_unique<State>(std::make_unique<httplib::SSLServer>(certificate.get(), key.get()),
                              in_order(std::move(script)));
  state->scheme = "https";
  state->host = "localhost";
  state->certificate = (std::filesystem::temp_directory_path() /
                        ("kbench_" + std::to_string(::getpid()) + "_ca.pem"))
                           .string();
  FILE* file = std::fopen(state->certificate.c_str(), "w");
  PEM_write_X509(file, certificate.get());
  std::fclose(file);
  return std::unique_ptr<ScriptedServer>(new ScriptedServer(std::move(state)));
}

std::string ScriptedServer::url() const {
  return state_->scheme + "://" + state_->host + ":" + std::to_string(state_->port) + "/v1";
}
std::string ScriptedServer::certificate() const { return state_->certificate; }
std::vector<Seen> ScriptedServer::seen() const { return state_->seen(); }

class RawServer::State {
 public:
  explicit State(std::vector<std::string> replies) : replies_(std::move(replies)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      throw std::runtime_error("the test's server has no port");
    }
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~State() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  int port = 0;
  std::atomic<size_t> count = 0;

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      read_request(connection);
      const std::string& reply = replies_.at(std::min(count++, replies_.size() - 1));
      for (size_t sent = 0; sent < reply.size();) {
        const ssize_t wrote =
            ::send(connection, reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
        if (wrote <= 0) break;
        sent += static_cast<size_t>(wrote);
      }
      ::shutdown(connection, SHUT_WR);
      char rest[256];
      while (::recv(connection, rest, sizeof rest, 0) > 0) {
      }
      ::close(connection);
    }
  }
  static void read_request(int connection) {
    std::string request;
    char bytes[4096];
    for (;;) {
      const size_t head = request.find("\r\n\r\n");
      if (head != request.npos) {
        const size_t at = request.find("Content-Length: ");
        const size_t length = at == request.npos ? 0 : std::stoul(request.substr(at + 16, 20));
        if (request.size() >= head + 4 + length) return;
      }
      const ssize_t got = ::recv(connection, bytes, sizeof bytes, 0);
      if (got <= 0) return;
      request.append(bytes, static_cast<size_t>(got));
    }
  }

  int listener_ = -1;
  std::vector<std::string> replies_;
  std::thread thread_;
};

RawServer::RawServer(std::vector<std::string> replies)
    : state_(std::make_unique<State>(std::move(replies))) {}
RawServer::~RawServer() = default;
std::string RawServer::url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/v1";
}
size_t RawServer::count() const { return state_->count; }

std::string chat_body(const std::string& text, const std::string& finish) {
  return Json{{"model", "served"},
              {"choices",
               {{{"index", 0},
                 {"finish_reason", finish},
                 {"message", {{"role", "assistant"}, {"content", text}}}}}}}
      .dump();
}

std::string error_body(const std::string& message, const std::string& code, const std::string& type,
                       const std::string& parameter) {
  Json error = {{"message", message}};
  if (!code.empty()) error["code"] = code;
  if (!type.empty()) error["type"] = type;
  if (!parameter.empty()) error["param"] = parameter;
  return Json{{"error", error}}.dump();
}

std::string event(const std::string& data) {
  std::string line = data;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "data: " + line + "\n\n";
}

std::string delta(const std::string& text, const std::string& finish) {
  Json choice = {{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}};
  if (!finish.empty()) choice["finish_reason"] = finish;
  return event(Json{{"model", "served"}, {"choices", {choice}}}.dump());
}

Line stream(std::vector<std::string> events) {
  return {.type = "text/event-stream", .pieces = std::move(events)};
}

}  // namespace kbench::testing
