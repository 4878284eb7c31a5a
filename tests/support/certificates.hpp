// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An authority for tests, which signs certificates while they run.

#if defined(TAGMA_WITH_TLS) && TAGMA_WITH_TLS

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::test {

/// What stands in a certificate.
struct certificate_of {
  std::vector<std::string> uris{};
  long from_s = -3600, until_s = 24 * 3600;  ///< from now on
  std::string usage = "serverAuth,clientAuth";
};

class authority {
 public:
  explicit authority(const std::string& name = "an authority") : key_(new_key()) {
    certificate_ = signed_by_us(name, key_.get(), {{}, -7200, 48 * 3600, ""}, true);
    write(path("ca.pem"), [this](FILE* to) { return ::PEM_write_X509(to, certificate_.get()); });
  }

  /// Writes a certificate and its key.
  transport::tls_files give(const certificate_of& what) {
    const std::string number = std::to_string(++given_);
    const key k = new_key();
    const x509 c = signed_by_us("somebody", k.get(), what, false);
    transport::tls_files files{path("ca.pem"), path(number + ".pem"), path(number + ".key")};
    write(files.certificate, [&](FILE* to) { return ::PEM_write_X509(to, c.get()); });
    write(files.key,
          [&](FILE* to) { return ::PEM_write_PrivateKey(to, k.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    return files;
  }
  transport::tls_files of_task(const std::string& job, int task) {
    return give({{"tagma:/job:" + job + "/task:" + std::to_string(task)}});
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name.c_str(); }

 private:
  struct frees {
    void operator()(EVP_PKEY* p) const { ::EVP_PKEY_free(p); }
    void operator()(X509* p) const { ::X509_free(p); }
  };
  using key = std::unique_ptr<EVP_PKEY, frees>;
  using x509 = std::unique_ptr<X509, frees>;

  static void need(bool so) {
    if (!so) throw std::runtime_error("OpenSSL made no certificate");
  }
  static key new_key() {
    key k(::EVP_EC_gen("P-256"));
    need(k != nullptr);
    return k;
  }
  template <class F>
  static void write(const std::string& to, const F& what) {
    FILE* const file = std::fopen(to.c_str(), "wb");
    need(file != nullptr);
    const bool good = what(file) == 1;
    need(std::fclose(file) == 0 && good);
  }
  static void add(X509* to, X509* issuer, int what, const std::string& text) {
    X509V3_CTX context{};
    ::X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    X509_EXTENSION* const e = ::X509V3_EXT_conf_nid(nullptr, &context, what, text.c_str());
    need(e != nullptr && ::X509_add_ext(to, e, -1) == 1);
    ::X509_EXTENSION_free(e);
  }
  x509 signed_by_us(const std::string& name, EVP_PKEY* of, const certificate_of& what, bool is_authority) {
    x509 c(::X509_new());
    need(::X509_set_version(c.get(), 2) == 1);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(c.get()), ++serial_);
    ::X509_gmtime_adj(::X509_getm_notBefore(c.get()), what.from_s);
    ::X509_gmtime_adj(::X509_getm_notAfter(c.get()), what.until_s);
    X509_NAME* const subject = ::X509_get_subject_name(c.get());
    need(::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()),
                                      -1, -1, 0) == 1);
    X509* const issuer = is_authority ? c.get() : certificate_.get();
    need(::X509_set_issuer_name(c.get(), ::X509_get_subject_name(issuer)) == 1 && ::X509_set_pubkey(c.get(), of) == 1);
    add(c.get(), issuer, NID_basic_constraints, is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!what.usage.empty()) add(c.get(), issuer, NID_ext_key_usage, what.usage);
    std::string names;
    for (const std::string& uri : what.uris) names += (names.empty() ? "URI:" : ",URI:") + uri;
    if (!names.empty()) add(c.get(), issuer, NID_subject_alt_name, names);
    need(::X509_sign(c.get(), key_.get(), ::EVP_sha256()) > 0);
    return c;
  }

  temporary_directory directory_;
  key key_;
  x509 certificate_{};
  int given_ = 0;
  long serial_ = 0;
};

}  // namespace tagma::test

#endif
