// The subflows of a connection as a script reads them: a list that always includes the script's own subflow.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "controller.h"

namespace subflow {

// Prevents empty sets in formulas: a subflow that is not yet in the list counts as the only subflow.
class SiblingsWithSelf {
public:
    SiblingsWithSelf(const Siblings& siblings, const Window& window, Nanos srtt) : told_(siblings) {
        if (siblings.self < siblings.all.size()) [[likely]]
            return;
        alone_ = Sibling{.cwnd_pkts = window.cwnd_pkts,
                         .srtt_s = std::max(to_seconds(srtt), 1e-9),
                         .advertised = window.advertised,
                         .window_pkts = window.cwnd_pkts};
    }
    SiblingsWithSelf(const SiblingsWithSelf&) = delete;
    SiblingsWithSelf& operator=(const SiblingsWithSelf&) = delete;

    std::span<const Sibling> siblings() const { return alone_ ? std::span(&*alone_, 1) : told_.all; }
    std::size_t self() const { return alone_ ? 0 : told_.self; }
    const Sibling& own() const { return siblings()[self()]; }
    // Rates of the siblings if the connection maintains them; else nullptr.
    const PathRate* known_rates() const {
        return alone_ || told_.known_rates.empty() ? nullptr : told_.known_rates.data();
    }

private:
    const Siblings& told_;
    std::optional<Sibling> alone_;
};

}  // namespace subflow
