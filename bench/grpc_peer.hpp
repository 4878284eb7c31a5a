// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The same bulk through gRPC, as lean as it gets: buffers of bytes in place of messages of Protocol Buffers, sent from
/// where they are, and copied once to where they belong, since gRPC has memory of its own for what comes.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace grpc_peer {

/// Where the bytes of a message belong.
inline void copy_to(std::vector<std::byte>& to, const grpc::ByteBuffer& from) {
  std::vector<grpc::Slice> slices;
  if (!from.Dump(&slices).ok()) std::abort();
  std::size_t at = 0;
  for (const grpc::Slice& s : slices) {
    std::memcpy(to.data() + at, s.begin(), s.size());
    at += s.size();
  }
}

inline grpc::ByteBuffer buffer_of(const std::vector<std::byte>& bytes) {
  const grpc::Slice one(bytes.data(), bytes.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(&one, 1);
}

/// Takes what is pushed, and gives what is pulled.
class server {
 public:
  explicit server(std::size_t size) : from_(size, std::byte{1}), to_(size), service_(*this) {
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(-1);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~server() { server_->Shutdown(); }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  struct service final : grpc::CallbackGenericService {
    explicit service(server& s) : of(s) {}
    grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* with) override {
      struct one final : grpc::ServerGenericBidiReactor {
        one(server& s, bool pulls) : of(s), is_pull(pulls) { StartRead(&came); }
        void OnReadDone(bool ok) override {
          if (!ok) return Finish(grpc::Status::CANCELLED);
          if (!is_pull) copy_to(of.to_, came);
          answer = is_pull ? buffer_of(of.from_) : grpc::ByteBuffer();
          if (!is_pull) {
            const grpc::Slice nothing("", 0);
            answer = grpc::ByteBuffer(&nothing, 1);
          }
          StartWriteAndFinish(&answer, {}, grpc::Status::OK);
        }
        void OnDone() override { delete this; }
        server& of;
        bool is_pull;
        grpc::ByteBuffer came, answer;
      };
      return new one(of, with->method() == "/pull");
    }
    server& of;
  };

  std::vector<std::byte> from_, to_;
  service service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

class client {
 public:
  client(std::size_t size, const std::string& address) : from_(size, std::byte{1}), to_(size) {
    grpc::ChannelArguments how;
    how.SetMaxReceiveMessageSize(-1);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), how));
  }
  /// Four at a time.
  void push(int count) { ask("/push", count, 4, true); }
  /// One behind the other.
  void pull(int count) { ask("/pull", count, 1, false); }

 private:
  struct question {
    grpc::ClientContext with;
    grpc::ByteBuffer said, heard;
  };

  void ask(const char* method, int count, int at_once, bool sends) {
    const grpc::Slice nothing("", 0);
    for (int i = 0; i < count; ++i) {
      {
        std::unique_lock lock(mutex_);
        ended_.wait(lock, [&] { return open_ < at_once; });
        ++open_;
      }
      auto* const q = new question;
      q->said = sends ? buffer_of(from_) : grpc::ByteBuffer(&nothing, 1);
      stub_->UnaryCall(&q->with, method, {}, &q->said, &q->heard, [this, q, sends](const grpc::Status& s) {
        if (!s.ok()) std::abort();
        if (!sends) copy_to(to_, q->heard);
        delete q;
        const std::lock_guard lock(mutex_);
        --open_;
        ended_.notify_all();
      });
    }
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return open_ == 0; });
  }

  std::vector<std::byte> from_, to_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int open_ = 0;
};

/// Both in one process, through TCP on loopback.
class peer {
 public:
  explicit peer(std::size_t size) : server_(size), client_(size, server_.address()) {}
  void push(int count) { client_.push(count); }
  void pull(int count) { client_.pull(count); }

 private:
  server server_;
  client client_;
};

}  // namespace grpc_peer
