// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a connection goes over to memory that both ends share: who connects offers it, the other end looks whether it is
/// there, and each says `moved` as the last thing that goes the old way.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tagma::transport {

/// One end of that. Each function returns whether the other end may say this now.
class moving {
 public:
  /// The handshake is over.
  /// @param offers this end connects
  /// @param both both ends have said that they could
  void begin(bool offers, bool both) { stage_ = !both ? stage::stays : offers ? stage::may_offer : stage::may_take; }

  /// @name This end
  /// @{
  [[nodiscard]] bool can_offer() const { return stage_ == stage::may_offer; }
  void offers() { stage_ = stage::offered; }
  /// What the other end has offered, once.
  [[nodiscard]] std::optional<std::string> take() { return std::exchange(offer_, std::nullopt); }
  void answers(bool moves) { stage_ = moves ? stage::agreed : stage::stays; }
  /// @}

  /// @name The other end
  /// @{
  [[nodiscard]] bool segment(std::string_view what) {
    if (stage_ != stage::may_take) return false;
    stage_ = stage::looks;
    offer_ = what;
    return true;
  }
  [[nodiscard]] bool moved(bool well) {
    if (stage_ != stage::offered && !(stage_ == stage::agreed && well)) return false;
    stage_ = well ? stage::moved : stage::stays;
    return true;
  }
  /// @}

  /// All that the other end says from now on comes the other way.
  [[nodiscard]] bool has_moved() const { return stage_ == stage::moved; }
  /// There will be no other way.
  [[nodiscard]] bool stays() const { return stage_ == stage::stays; }

 private:
  enum class stage { stays, may_offer, may_take, offered, looks, agreed, moved };
  stage stage_ = stage::stays;
  std::optional<std::string> offer_{};
};

}  // namespace tagma::transport
