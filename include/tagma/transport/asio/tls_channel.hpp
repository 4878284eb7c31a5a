// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// TLS 1.3 as a state machine, by OpenSSL where TAGMA_WITH_TLS is 1: bytes of the other end go in and come out as what
/// they say, and the other way round. It knows no sockets. What is written is taken at once, so that memory of bulk is
/// free whenever its functions have returned.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/transport/certificate_names.hpp"
#include "tagma/transport/handshake.hpp"
#include "tagma/transport/options.hpp"

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#endif

namespace tagma::transport::asio {

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS

namespace detail {

struct frees_openssl {
  void operator()(SSL_CTX* p) const { ::SSL_CTX_free(p); }
  void operator()(SSL* p) const { ::SSL_free(p); }
  void operator()(BIO* p) const { ::BIO_free(p); }
  void operator()(X509* p) const { ::X509_free(p); }
  void operator()(GENERAL_NAMES* p) const { ::GENERAL_NAMES_free(p); }
};
template <class T>
using openssl_ptr = std::unique_ptr<T, frees_openssl>;

}  // namespace detail

/// Certificates and keys as they were read.
class tls_identity {
 public:
  explicit tls_identity(const tls_files& from);

  tls_files files;
  detail::openssl_ptr<SSL_CTX> context{};
  certificate_names own{};

 private:
  [[noreturn]] static void refuse(const std::string& path, std::string_view why);
};

#else

class tls_identity {};

#endif

/// Reads files, or has them already: those that have not changed since are not read again, and those that cannot be
/// read any more stay as they were. For one thread at a time.
class tls_identities {
 public:
  /// Throws `unimplemented` without OpenSSL, `invalid_argument` for files that are none, do not belong together, or are
  /// not all there.
  [[nodiscard]] std::shared_ptr<const tls_identity> read(const tls_files& files);
  /// Whom the own certificate names.
  [[nodiscard]] static certificate_names names(const tls_identity& of);

 private:
  struct entry {
    std::array<std::array<std::int64_t, 3>, 3> stamps{};
    std::shared_ptr<const tls_identity> what{};
  };
  std::map<std::array<std::string, 3>, entry> all_{};
};

/// One end of a stream. For one thread.
class tls_channel {
 public:
  tls_channel(side which, std::shared_ptr<const tls_identity> own);
  ~tls_channel();

  /// @name Bytes of the other end, as they came
  /// @{
  /// Where the next ones go. Never empty, unless what came was not read.
  [[nodiscard]] std::span<std::byte> receive_into();
  void received(std::size_t n);
  /// @}

  /// Goes on with the handshake, as far as what has come leads.
  void meet();
  /// Both ends have shown their certificates, and this one believes the other.
  [[nodiscard]] bool is_open() const;
  /// Whom the certificate of the other end names.
  [[nodiscard]] certificate_names names() const;
  /// Whether what came first is the plain protocol.
  [[nodiscard]] bool heard_no_tls() const;
  /// Why it is over: a sentence without a subject, about the other end.
  [[nodiscard]] const std::optional<error>& failure() const;

  /// What the other end says, as many bytes as there are and have room. 0: no more for now.
  [[nodiscard]] std::size_t read(std::span<std::byte> to);
  /// Takes what this end says, from the beginning of the pieces.
  /// @returns how many bytes; not all of them while much waits to be sent
  [[nodiscard]] std::size_t write(std::span<const std::span<const std::byte>> pieces);
  /// Says that there is no more to come.
  void close();

  /// @name Bytes for the other end
  /// @{
  [[nodiscard]] std::span<const std::byte> to_send() const;
  void sent(std::size_t n);
  /// @}

 private:
#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS
  /// OpenSSL reads from `in` and writes to `out`, which takes all that it is given.
  struct state {
    std::shared_ptr<const tls_identity> own{};
    detail::openssl_ptr<SSL> ssl{};
    // On cache lines: from and to other places, the system copies half as fast.
    runtime::aligned_bytes in{}, out{};
    std::size_t in_begin = 0, in_end = 0, out_begin = 0, out_end = 0;
    std::array<char, 4> first{};
    std::size_t heard = 0;  // bytes of `first`
    bool open = false;
    std::optional<error> failure{};
    std::string dates{};  // of the certificate that is not good

    static int verified(int good, X509_STORE_CTX* with);
    static int take(BIO* b, char* to, int n);
    static int give(BIO* b, const char* from, int n);
    static long control(BIO* b, int what, long number, void* with);
    [[nodiscard]] static BIO_METHOD* method();

    /// Room for so many bytes, of which the first `used` stay.
    static void widen(runtime::aligned_bytes& which, std::size_t used, std::size_t size);
    void failed(int result);
    [[nodiscard]] std::optional<error> distrusted() const;
    [[nodiscard]] std::size_t say(std::span<const std::byte> what);
  };
#else
  struct state {
    std::optional<error> failure{};
  };
#endif
  std::unique_ptr<state> state_;
};

}  // namespace tagma::transport::asio

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/tls_channel.ipp"
#endif
