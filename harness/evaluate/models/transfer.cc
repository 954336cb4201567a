#include "harness/evaluate/models/transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "kbench/error.h"
#include "kbench/version.h"

namespace kbench::models {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds for a server to close a reply that it has declared complete; then the connection is
/// dropped.
constexpr double kGrace = 0.25;
constexpr size_t kHeaders = 64, kHeaderBytes = 4096;

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
      throw Error(ErrorCode::kInternal, "libcurl does not start");
    }
  });
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  if (curl_easy_setopt(easy, option, value) != CURLE_OK) {
    throw Error(ErrorCode::kUnsupported,
                "this build of libcurl lacks option " + std::to_string(static_cast<int>(option)));
  }
}

long milliseconds(double seconds) { return std::max(1L, static_cast<long>(seconds * 1000)); }

/// Whether repeating the request cannot help.
bool is_final(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return true;
    default:
      return false;
  }
}

std::string words_for(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return "there is no address of that host";
    case CURLE_COULDNT_CONNECT:
      return "nothing answers there";
    case CURLE_OPERATION_TIMEDOUT:
      return "it took too long";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return "its certificate is not trusted; 'ca_file' in the models file can name one";
    case CURLE_SSL_CACERT_BADFILE:
      return "the 'ca_file' of the models file cannot be used";
    case CURLE_SSL_CONNECT_ERROR:
      return "it does not speak https";
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return "the connection broke off";
    default:
      return "the request failed";
  }
}

}  // namespace

class Transfer::State {
 public:
  State() : multi_(nullptr, curl_multi_cleanup), easy_(nullptr, curl_easy_cleanup) {
    start_curl();
    easy_.reset(curl_easy_init());
    multi_.reset(curl_multi_init());
    if (!easy_ || !multi_) throw Error(ErrorCode::kOutOfMemory, "no memory for a connection");
  }

  HttpEnd run(const HttpRequest& request, std::stop_token stop, const Sink& sink) {
    sink_ = &sink;
    headers_.clear();
    failure_ = nullptr;
    enough_.reset();
    last_byte_.reset();
    started_ = Clock::now();
    prepare(request);
    std::stop_callback wake(stop, [&] { curl_multi_wakeup(multi_.get()); });
    curl_multi_add_handle(multi_.get(), easy_.get());
    HttpEnd end = wait(request, stop);
    curl_multi_remove_handle(multi_.get(), easy_.get());
    set(easy_.get(), CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
    if (failure_) std::rethrow_exception(failure_);
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    end.status = static_cast<int>(status);
    end.headers = std::move(headers_);
    return end;
  }

 private:
  /// Sets all options. libcurl gets the header lines without copying them, so that the key stays
  /// where it is.
  void prepare(const HttpRequest& request) {
    CURL* easy = easy_.get();
    curl_easy_reset(easy);  // keeps connections
    error_[0] = 0;
    set(easy, CURLOPT_ERRORBUFFER, error_.data());
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_FOLLOWLOCATION, 0L);
    set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_URL, request.url.c_str());
    set(easy, CURLOPT_USERAGENT, user_agent_.c_str());
    if (!request.ca_file.empty()) set(easy, CURLOPT_CAINFO, request.ca_file.c_str());
    if (request.connect_timeout > 0) {
      set(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_timeout));
    }
    if (request.total_timeout > 0) {
      set(easy, CURLOPT_TIMEOUT_MS, milliseconds(request.total_timeout));
    }
    if (!request.method.empty()) set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (!request.body.empty()) {
      set(easy, CURLOPT_POST, 1L);
      set(easy, CURLOPT_POSTFIELDS, request.body.data());
      set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    set(easy, CURLOPT_WRITEFUNCTION, &State::on_body);
    set(easy, CURLOPT_WRITEDATA, this);
    set(easy, CURLOPT_HEADERFUNCTION, &State::on_header);
    set(easy, CURLOPT_HEADERDATA, this);

    // libcurl does not write to them.
    std::vector<const char*> texts = {type_.data(), expect_.data()};
    if (request.key != nullptr && !request.key->empty()) texts.push_back(request.key->header());
    for (const std::string& line : request.headers) texts.push_back(line.c_str());
    lines_.resize(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      lines_[i] = {const_cast<char*>(texts[i]), i + 1 < texts.size() ? &lines_[i + 1] : nullptr};
    }
    set(easy, CURLOPT_HTTPHEADER, lines_.data());
  }

  HttpEnd wait(const HttpRequest& request, const std::stop_token& stop) {
    for (;;) {
      int running = 0;
      if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) {
        return {HttpEnd::How::broken, 0, {}, "libcurl failed"};
      }
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg == CURLMSG_DONE) return ended(message->data.result);
      }
      if (stop.stop_requested()) return {HttpEnd::How::stopped, 0, {}, "stopped"};
      const auto now = Clock::now();
      double next = 1;  // longest sleep in seconds
      // Whether a time limit counted from `from` has passed.
      const auto passed = [&](Clock::time_point from, double limit) {
        const double rest = limit - std::chrono::duration<double>(now - from).count();
        next = std::min(next, rest);
        return rest <= 0;
      };
      if (enough_) {
        if (passed(*enough_, kGrace)) return {};
      } else if (!last_byte_ && request.first_timeout > 0) {
        if (passed(started_, request.first_timeout))
          return late("to the first byte", request.first_timeout);
      } else if (last_byte_ && request.silence_timeout > 0) {
        if (passed(*last_byte_, request.silence_timeout)) {
          return late("of silence", request.silence_timeout);
        }
      }
      curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(next * 1000) + 1, nullptr);
    }
  }

  static HttpEnd late(const std::string& what, double seconds) {
    std::string number = std::to_string(seconds);
    number.erase(number.find_last_not_of('0') + 1);
    if (number.ends_with('.')) number.pop_back();
    return {HttpEnd::How::broken, 0, {}, "the server took more than " + number + " s " + what};
  }

  HttpEnd ended(CURLcode code) const {
    if (code == CURLE_OK || enough_) return {};
    std::string message = words_for(code);
    message += std::string(" (libcurl: ") + curl_easy_strerror(code);
    if (error_[0] != 0) message += ": " + shown(error_.data());
    message += ")";
    return {is_final(code) ? HttpEnd::How::refused : HttpEnd::How::broken, 0, {}, message};
  }

  static size_t on_body(char* data, size_t, size_t size, void* user) {
    auto& self = *static_cast<State*>(user);
    self.last_byte_ = Clock::now();
    if (self.enough_) return size;
    try {
      long status = 0;
      curl_easy_getinfo(self.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
      if (!(*self.sink_)(static_cast<int>(status), {data, size})) self.enough_ = Clock::now();
      return size;
    } catch (...) {  // libcurl is C
      self.failure_ = std::current_exception();
      return CURL_WRITEFUNC_ERROR;
    }
  }

  static size_t on_header(char* data, size_t, size_t size, void* user) {
    auto& self = *static_cast<State*>(user);
    std::string_view line(data, size);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {  // with several replies, the last counts
      self.headers_.clear();
      return size;
    }
    const size_t colon = line.find(':');
    if (colon == line.npos || line.size() > kHeaderBytes || self.headers_.size() >= kHeaders) {
      return size;
    }
    try {
      std::string name(line.substr(0, colon));
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      line.remove_prefix(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
      self.headers_[name] = std::string(line);
      return size;
    } catch (...) {
      self.failure_ = std::current_exception();
      return 0;
    }
  }

  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy_;
  std::string user_agent_ = std::string("kbench/") + version();
  std::array<char, CURL_ERROR_SIZE> error_ = {};
  std::string type_ = "Content-Type: application/json", expect_ = "Expect:";
  std::vector<curl_slist> lines_;

  // For the transfer under way.
  const Sink* sink_ = nullptr;
  Headers headers_;
  std::exception_ptr failure_;
  Clock::time_point started_;
  std::optional<Clock::time_point> last_byte_, enough_;
};

Transfer::Transfer() : state_(std::make_unique<State>()) {}
Transfer::~Transfer() = default;

HttpEnd Transfer::run(const HttpRequest& request, std::stop_token stop, const Sink& sink) {
  return state_->run(request, stop, sink);
}

namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Handle parsed(const std::string& text) {
  Handle handle(curl_url(), &curl_url_cleanup);
  if (!handle) throw Error(ErrorCode::kOutOfMemory, "no memory for a URL");
  if (curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is no URL of a server, such as http://127.0.0.1:8000/v1");
  }
  return handle;
}

/// A part of the URL; empty if it has none.
std::string part(const Handle& handle, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), which, &text, 0) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]" ||
         host.ends_with(".localhost");
}

}  // namespace

Url parse_url(const std::string& text) {
  const Handle handle = parsed(text);
  const std::string scheme = part(handle, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is not an address of http or https");
  }
  if (!part(handle, CURLUPART_USER).empty() || !part(handle, CURLUPART_PASSWORD).empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a URL must hold no name or password; put the key into an environment variable "
                "and its name into key_env");
  }
  if (!part(handle, CURLUPART_FRAGMENT).empty()) {
    throw Error(ErrorCode::kInvalidArgument, "'" + shown(text) + "' must have no fragment ('#')");
  }
  return {part(handle, CURLUPART_URL), scheme == "https",
          is_loopback(part(handle, CURLUPART_HOST))};
}

std::string with_path(const Url& base, const std::string& path) {
  const Handle handle = parsed(base.text);
  std::string whole = part(handle, CURLUPART_PATH);
  while (whole.ends_with('/')) whole.pop_back();
  whole += path;
  curl_url_set(handle.get(), CURLUPART_PATH, whole.c_str(), 0);
  return part(handle, CURLUPART_URL);
}

}  // namespace kbench::models
