#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>

#include "harness/frontends/http/service.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::http {

Address address_from_text(const std::string& text) {
  Address address;
  std::string port = text;
  if (const size_t colon = text.rfind(':'); colon != text.npos) {
    address.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else if (address.host.find(':') != text.npos) {
      address.host.clear();  // an IPv6 address without brackets: where does its port begin?
    }
  }
  const char* const end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, address.port);
  if (address.host.empty() || port.empty() || stop != end || error != std::errc() ||
      address.port < 0 || address.port > 65535) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is no address: write 8000, 127.0.0.1:8000 or [::1]:8000");
  }
  return address;
}

bool Address::loopback() const {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

}  // namespace kbench::http
