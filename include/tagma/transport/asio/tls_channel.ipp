// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of tls_channel.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/tls_channel.hpp"

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS

#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "tagma/transport/sentences.hpp"

namespace tagma::transport::asio {

namespace detail {

/// What a record has at most of what is said, and how many bytes are kept that wait to be read or sent.
TAGMA_DECL constexpr std::size_t record_bytes = 16 * 1024, kept_bytes = 256 * 1024;

/// What OpenSSL says went wrong last.
TAGMA_DECL std::string openssl_reason() {
  const unsigned long e = ::ERR_peek_last_error();
  const char* const text = ::ERR_reason_error_string(e);
  return text != nullptr ? text : e != 0 ? "error " + std::to_string(e) : "nothing is known of why";
}

TAGMA_DECL certificate_names names_of(const X509* of) {
  std::vector<std::string> uris;
  const openssl_ptr<GENERAL_NAMES> all(
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(of, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; all != nullptr && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(::ASN1_STRING_get0_data(uri)),
                      static_cast<std::size_t>(::ASN1_STRING_length(uri)));
  }
  return certificate_names(std::move(uris));
}

/// "Jan  1 00:00:00 2026 GMT".
TAGMA_DECL std::string date_of(const ASN1_TIME* when) {
  const openssl_ptr<BIO> text(::BIO_new(::BIO_s_mem()));
  std::array<char, 64> bytes{};
  if (text == nullptr || ::ASN1_TIME_print(text.get(), when) != 1) return "an unknown date";
  const int n = ::BIO_read(text.get(), bytes.data(), static_cast<int>(bytes.size()));
  return {bytes.data(), static_cast<std::size_t>(std::max(n, 0))};
}

/// What the other end has said before it closed, or 0.
TAGMA_DECL int alert_of(unsigned long e) {
  const int reason = ERR_GET_REASON(e);
  return ERR_GET_LIB(e) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : 0;
}

/// When a file was written, and how long it is.
TAGMA_DECL std::array<std::int64_t, 3> stamp_of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {};
  return {s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size};
}

}  // namespace detail

TAGMA_DECL tls_identity::tls_identity(const tls_files& from) : files(from) {
  ::ERR_clear_error();
  if (files.authorities.empty() || files.certificate.empty() || files.key.empty())
    fail(status_code::invalid_argument,
         "TLS needs three files: certificates of authorities, a certificate of its own and the key to that");
  context.reset(::SSL_CTX_new(::TLS_method()));
  SSL_CTX* const c = context.get();
  if (c == nullptr || ::SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
      ::SSL_CTX_set_ciphersuites(c, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") != 1)
    fail(status_code::internal, {"OpenSSL offers no TLS 1.3: ", detail::openssl_reason()});
  if (::SSL_CTX_load_verify_locations(c, files.authorities.c_str(), nullptr) != 1)
    refuse(files.authorities, "has no certificates of authorities");
  if (::SSL_CTX_use_certificate_chain_file(c, files.certificate.c_str()) != 1)
    refuse(files.certificate, "has no certificate");
  if (::SSL_CTX_use_PrivateKey_file(c, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    refuse(files.key, "has no key of the certificate '" + files.certificate + "'");
  if (::SSL_CTX_check_private_key(c) != 1)
    refuse(files.key, "does not belong to the certificate '" + files.certificate + "'");
  // A meeting that is resumed shows no certificate.
  (void)::SSL_CTX_set_num_tickets(c, 0);
  (void)::SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  (void)::SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  own = detail::names_of(::SSL_CTX_get0_certificate(c));
  ::ERR_clear_error();
}

[[noreturn]] TAGMA_COLD TAGMA_DECL void tls_identity::refuse(const std::string& path, std::string_view why) {
  const std::string reason = detail::openssl_reason();
  ::ERR_clear_error();
  struct stat s {};
  const bool is_there = ::stat(path.c_str(), &s) == 0 && ::access(path.c_str(), R_OK) == 0;
  if (!is_there || S_ISDIR(s.st_mode)) {
    const int number = is_there ? EISDIR : errno;
    fail(status_code::invalid_argument,
         {"TLS: '", path, "' cannot be read: ", std::generic_category().message(number)});
  }
  fail(status_code::invalid_argument, {"TLS: '", path, "' ", why, " (", reason, ")"});
}

TAGMA_DECL std::shared_ptr<const tls_identity> tls_identities::read(const tls_files& files) {
  entry& e = all_[{files.authorities, files.certificate, files.key}];
  const std::array stamps{detail::stamp_of(files.authorities), detail::stamp_of(files.certificate),
                          detail::stamp_of(files.key)};
  if (e.what != nullptr && e.stamps == stamps) return e.what;
  try {
    e.what = std::make_shared<const tls_identity>(files);
  } catch (const error&) {
    if (e.what == nullptr) throw;  // else somebody is about to write the others
    return e.what;
  }
  e.stamps = stamps;
  return e.what;
}

TAGMA_DECL certificate_names tls_identities::names(const tls_identity& of) { return of.own; }

/// Changes no verdict; what stands in the certificate is not to be had later.
TAGMA_DECL int tls_channel::state::verified(int good, X509_STORE_CTX* with) {
  const auto* const ssl =
      static_cast<const SSL*>(::X509_STORE_CTX_get_ex_data(with, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  const X509* const shown = ::X509_STORE_CTX_get_current_cert(with);
  if (good == 1 || ssl == nullptr || shown == nullptr) return good;
  auto& s = *static_cast<state*>(::SSL_get_ex_data(ssl, 0));
  s.dates =
      sentence({::X509_STORE_CTX_get_error_depth(with) > 0 ? "that of an authority" : "it", " is good from ",
                detail::date_of(::X509_get0_notBefore(shown)), " to ", detail::date_of(::X509_get0_notAfter(shown))});
  return good;
}

TAGMA_DECL int tls_channel::state::take(BIO* b, char* to, int n) {
  auto& s = *static_cast<state*>(::BIO_get_data(b));
  ::BIO_clear_retry_flags(b);
  const std::size_t size = std::min(s.in_end - s.in_begin, static_cast<std::size_t>(std::max(n, 0)));
  if (size == 0) {
    ::BIO_set_retry_read(b);
    return -1;
  }
  std::memcpy(to, s.in.data() + s.in_begin, size);
  s.in_begin += size;
  return static_cast<int>(size);
}

TAGMA_DECL int tls_channel::state::give(BIO* b, const char* from, int n) {
  auto& s = *static_cast<state*>(::BIO_get_data(b));
  ::BIO_clear_retry_flags(b);
  const auto size = static_cast<std::size_t>(std::max(n, 0));
  if (s.out.size() - s.out_end < size) widen(s.out, s.out_end, 2 * (s.out_end + size));
  std::memcpy(s.out.data() + s.out_end, from, size);
  s.out_end += size;
  return n;
}

TAGMA_DECL void tls_channel::state::widen(runtime::aligned_bytes& which, std::size_t used, std::size_t size) {
  runtime::aligned_bytes wider(size);
  if (used > 0) std::memcpy(wider.data(), which.data(), used);
  which = static_cast<runtime::aligned_bytes&&>(wider);
}

TAGMA_DECL long tls_channel::state::control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH ? 1 : 0; }

/// Of all channels, for as long as the process lives.
TAGMA_DECL BIO_METHOD* tls_channel::state::method() {
  static BIO_METHOD* const one = [] {
    BIO_METHOD* const m = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tagma");
    (void)::BIO_meth_set_read(m, &take);
    (void)::BIO_meth_set_write(m, &give);
    (void)::BIO_meth_set_ctrl(m, &control);
    return m;
  }();
  return one;
}

/// Why this end does not believe the certificate of the other.
TAGMA_DECL std::optional<error> tls_channel::state::distrusted() const {
  const long verdict = ::SSL_get_verify_result(ssl.get());
  if (verdict == X509_V_OK) return std::nullopt;
  std::string how;
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      how = "its certificate has expired; " + dates;
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      how = "its certificate is not good yet; " + dates;
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      how = "its certificate is from no authority that '" + own->files.authorities + "' has";
      break;
    case X509_V_ERR_INVALID_PURPOSE:
      how = "its certificate is not for this use: it has to be for servers and clients alike";
      break;
    default:
      how = "its certificate is not good: " + std::string(::X509_verify_cert_error_string(verdict));
  }
  return error(status_code::permission_denied, how);
}

TAGMA_DECL void tls_channel::state::failed(int result) {
  const int kind = ::SSL_get_error(ssl.get(), result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return;
  const unsigned long e = ::ERR_peek_error();
  const std::string reason = detail::openssl_reason();
  ::ERR_clear_error();
  if (kind == SSL_ERROR_ZERO_RETURN) {
    failure = error(status_code::unavailable, "it closed the connection");
  } else if (!open && distrusted()) {
    failure = distrusted();
  } else if (const int alert = detail::alert_of(e);
             (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_ACCESS_DENIED && alert != SSL_AD_ILLEGAL_PARAMETER) ||
             alert == SSL_AD_CERTIFICATE_REQUIRED) {
    failure = error(status_code::permission_denied,
                    sentence({"it does not take the certificate of this end, '", own->files.certificate,
                              "': it says \"", ::SSL_alert_desc_string_long(alert), "\""}));
  } else if (!open && e != 0 && ERR_GET_REASON(e) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    failure = error(status_code::permission_denied, "it has shown no certificate");
  } else {
    failure = error(open ? status_code::data_loss : status_code::permission_denied,
                    sentence({open ? "TLS broke: " : "there is no TLS with it: ", reason}));
  }
}

TAGMA_DECL tls_channel::tls_channel(side which, std::shared_ptr<const tls_identity> own)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.own = std::move(own);
  s.ssl.reset(::SSL_new(s.own->context.get()));
  BIO* const between = s.ssl == nullptr ? nullptr : ::BIO_new(state::method());
  if (between == nullptr) fail(status_code::resource_exhausted, "OpenSSL has no memory for a connection");
  ::BIO_set_data(between, &s);
  ::BIO_set_init(between, 1);
  ::SSL_set_bio(s.ssl.get(), between, between);
  (void)::SSL_set_ex_data(s.ssl.get(), 0, &s);
  ::SSL_set_verify(s.ssl.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, &state::verified);
  which == side::connects ? ::SSL_set_connect_state(s.ssl.get()) : ::SSL_set_accept_state(s.ssl.get());
}

TAGMA_DECL std::span<std::byte> tls_channel::receive_into() {
  state& s = *state_;
  if (s.in_begin == s.in_end) s.in_begin = s.in_end = 0;
  const std::size_t wanted = s.open ? detail::kept_bytes : detail::record_bytes;
  if (s.in.size() < wanted) state::widen(s.in, s.in_end, wanted);
  return {s.in.data() + s.in_end, s.in.size() - s.in_end};
}

TAGMA_DECL void tls_channel::received(std::size_t n) {
  state& s = *state_;
  for (std::size_t i = 0; i < n && s.heard < s.first.size(); ++i)
    s.first[s.heard++] = static_cast<char>(s.in.data()[s.in_end + i]);
  s.in_end += n;
}

TAGMA_DECL void tls_channel::meet() {
  state& s = *state_;
  if (s.open || s.failure) return;
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(s.ssl.get());
  if (result == 1)
    s.open = true;
  else
    s.failed(result);
}

TAGMA_DECL bool tls_channel::is_open() const { return state_->open; }

TAGMA_DECL certificate_names tls_channel::names() const {
  const X509* const shown = ::SSL_get0_peer_certificate(state_->ssl.get());
  return shown == nullptr ? certificate_names() : detail::names_of(shown);
}

TAGMA_DECL bool tls_channel::heard_no_tls() const {
  return state_->heard == 4 && std::memcmp(state_->first.data(), "tgm1", 4) == 0;
}

TAGMA_DECL const std::optional<error>& tls_channel::failure() const { return state_->failure; }

TAGMA_DECL std::size_t tls_channel::read(std::span<std::byte> to) {
  state& s = *state_;
  std::size_t all = 0;
  while (s.open && !s.failure && all < to.size()) {
    std::size_t n = 0;
    ::ERR_clear_error();
    const int result = ::SSL_read_ex(s.ssl.get(), to.data() + all, to.size() - all, &n);
    if (result != 1) {
      s.failed(result);
      break;
    }
    all += n;
  }
  return all;
}

TAGMA_DECL std::size_t tls_channel::state::say(std::span<const std::byte> what) {
  std::size_t n = 0;
  ::ERR_clear_error();
  const int result = ::SSL_write_ex(ssl.get(), what.data(), what.size(), &n);
  if (result != 1) failed(result);
  return n;
}

TAGMA_DECL std::size_t tls_channel::write(std::span<const std::span<const std::byte>> pieces) {
  state& s = *state_;
  std::size_t all = 0;
  const auto has_room = [&] { return s.open && !s.failure && s.out_end - s.out_begin < detail::kept_bytes; };
  std::array<std::byte, detail::record_bytes> small;
  for (std::size_t i = 0; i < pieces.size() && has_room();) {
    std::span<const std::byte> one = pieces[i++];
    if (i < pieces.size() && one.size() < small.size()) {
      // Headers and short messages share a record with what is behind them.
      std::size_t n = 0;
      for (--i; i < pieces.size() && n < small.size(); ++i) {
        one = pieces[i];
        const std::size_t part = std::min(one.size(), small.size() - n);
        std::memcpy(small.data() + n, one.data(), part);
        n += part;
        one = one.subspan(part);
        if (!one.empty()) break;
      }
      const std::size_t said = s.say(std::span<const std::byte>(small).first(n));
      all += said;
      if (said < n) return all;
      if (!one.empty()) ++i;
    }
    while (!one.empty() && has_room()) {
      const std::size_t n = s.say(one.first(std::min(one.size(), detail::record_bytes)));
      all += n;
      if (n == 0) return all;
      one = one.subspan(n);
    }
    if (!one.empty()) return all;
  }
  return all;
}

TAGMA_DECL void tls_channel::close() {
  if (state_->open && !state_->failure) (void)::SSL_shutdown(state_->ssl.get());
  ::ERR_clear_error();
}

TAGMA_DECL std::span<const std::byte> tls_channel::to_send() const {
  return {state_->out.data() + state_->out_begin, state_->out_end - state_->out_begin};
}

TAGMA_DECL void tls_channel::sent(std::size_t n) {
  state& s = *state_;
  s.out_begin += n;
  if (s.out_begin == s.out_end) s.out_begin = s.out_end = 0;
}

}  // namespace tagma::transport::asio

#else

namespace tagma::transport::asio {

TAGMA_COLD TAGMA_DECL std::shared_ptr<const tls_identity> tls_identities::read(const tls_files&) {
  fail(status_code::unimplemented,
       "TLS needs OpenSSL: compile with TAGMA_WITH_TLS=1 and link ssl and crypto (with CMake, link tagma::tls; Debian: "
       "libssl-dev)");
}

TAGMA_DECL certificate_names tls_identities::names(const tls_identity&) { return {}; }

TAGMA_DECL tls_channel::tls_channel(side, std::shared_ptr<const tls_identity>) : state_(std::make_unique<state>()) {}
TAGMA_DECL std::span<std::byte> tls_channel::receive_into() { return {}; }
TAGMA_DECL void tls_channel::received(std::size_t) {}
TAGMA_DECL void tls_channel::meet() {}
TAGMA_DECL bool tls_channel::is_open() const { return false; }
TAGMA_DECL certificate_names tls_channel::names() const { return {}; }
TAGMA_DECL bool tls_channel::heard_no_tls() const { return false; }
TAGMA_DECL const std::optional<error>& tls_channel::failure() const { return state_->failure; }
TAGMA_DECL std::size_t tls_channel::read(std::span<std::byte>) { return 0; }
TAGMA_DECL std::size_t tls_channel::write(std::span<const std::span<const std::byte>>) { return 0; }
TAGMA_DECL void tls_channel::close() {}
TAGMA_DECL std::span<const std::byte> tls_channel::to_send() const { return {}; }
TAGMA_DECL void tls_channel::sent(std::size_t) {}

}  // namespace tagma::transport::asio

#endif

namespace tagma::transport::asio {

TAGMA_DECL tls_channel::~tls_channel() = default;

}  // namespace tagma::transport::asio
