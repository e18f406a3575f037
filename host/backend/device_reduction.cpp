#include "host/backend/device_reduction.h"

#include <algorithm>
#include <cassert>

#include "host/backend/device_columns.h"
#include "host/backend/sketch_window.h"
#include "host/platform/buffer_pool.h"
#include "host/statistics/run_tally.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

namespace {

using Address = ReductionDevice::Address;

// Columns whose buckets are counted at a time; the bucket table of one column takes 8 MiB.
constexpr std::size_t most_sketched_at_once = 64;
constexpr long long tally_lanes = 8192;

template <class T>
T* pointer(Address address) {
  return reinterpret_cast<T*>(address);  // a device address: not dereferenced on the host
}
template <class T>
Address address_of(const T* on_device) {
  return reinterpret_cast<Address>(on_device);
}

long long histogram_counts(const ReductionPlan& plan) {
  long long counts = 0;
  for (const ReductionPlan::Counted& one : plan.histograms)
    counts += static_cast<long long>(one.edges.size()) + 1;
  return counts;
}

// Capacity of the entry list; at least every bucket of one column fits.
std::size_t entry_capacity(std::size_t at_once) {
  return std::max(std::size_t{sketch_keys}, at_once * (std::size_t{1} << 15));
}

// One call of reduce_members. The order of the stages is in run().
class MemberReduction {
 public:
  MemberReduction(ReductionDevice& device, const ReductionPlan& plan, const KernelBatch& batch,
                  long long first)
      : device_(device), plan_(plan) {
    assert(first % reduced_block == 0);
    job_.batch = batch;
    job_.first = first;
    job_.blocks = batch.count / reduced_block;
    job_.nominal = plan.nominal ? 1 : 0;
    job_.series = static_cast<long long>(plan.series);
    job_.measures = static_cast<long long>(plan.measures);
    job_.inputs = static_cast<long long>(plan.drawn.size());
    job_.parameters = static_cast<long long>(plan.parameters);
    job_.flags = static_cast<long long>(plan.flags);
    job_.series_given_count = static_cast<long long>(plan.series_given.size());
    job_.given_count = static_cast<long long>(plan.given.size());
    job_.columns = static_cast<long long>(plan.columns());
    job_.related_count = job_.measures + job_.inputs;
    job_.pair_count = job_.related_count * (job_.related_count + 1) / 2;
    job_.replicates = plan.replicates;
    job_.first_drawn = plan.first_drawn;
    job_.histogram_count = static_cast<long long>(plan.histograms.size());
    job_.tally_lanes = tally_lanes;
    made_.first = first;
    made_.count = batch.count;
    made_.blocks.first_block = first / reduced_block;
    made_.blocks.blocks = job_.blocks;
  }

  std::optional<ReducedMembers> run() {
    if (!reserve_scratch()) return std::nullopt;
    send_plan();
    run("reduce_entered", job_, job_.batch.count);
    tally();
    if (job_.blocks > 0) {
      reduce_blocks();
      merge_blocks();
      count_histograms();
      count_buckets();
      if (!keep_values()) return std::nullopt;
    }
    fetch_incomplete_block();
    return std::move(made_);
  }

 private:
  // --- Memory ----------------------------------------------------------------------------------------------

  // Sets all pointers into one block of scratch memory and returns its size. Called with base 0 for the size
  // alone.
  std::size_t assign_addresses(Address base) {
    Address at = base;
    const auto take = [&](auto*& pointer_to, std::size_t count) {
      using T = std::remove_const_t<std::remove_reference_t<decltype(*pointer_to)>>;
      pointer_to = pointer<T>(at);
      at += (count * sizeof(T) + 255) / 256 * 256;
    };
    const auto blocks = static_cast<std::size_t>(job_.blocks);
    const std::size_t columns = plan_.columns();
    take(job_.entered, static_cast<std::size_t>(job_.batch.count));
    take(job_.drawn, plan_.drawn.size());
    take(job_.series_given, plan_.series_given.size());
    take(job_.given, plan_.given.size());
    take(job_.parts, blocks * columns);
    take(job_.replicate_parts, blocks * columns * static_cast<std::size_t>(plan_.replicates));
    take(job_.related, blocks * plan_.related());
    take(job_.pairs, blocks * plan_.pairs());
    take(job_.sketch_columns, plan_.sketched.size());
    take(job_.sketch_pivots, plan_.sketched.size());
    take(job_.sketch_windows, plan_.sketched.size());
    take(job_.sketch_extras, plan_.sketched.size());
    take(job_.sketch_found, most_sketched_at_once);
    take(job_.histograms, plan_.histograms.size());
    take(job_.edges, static_cast<std::size_t>(histogram_counts(plan_)));
    take(job_.histogram_counts, static_cast<std::size_t>(histogram_counts(plan_)));
    take(job_.tally, 1);
    // The bucket tables and the kept values are not needed at the same time: they share memory.
    const Address shared = at;
    const std::size_t at_once = std::min(plan_.sketched.size(), most_sketched_at_once);
    if (at_once > 0) {
      take(job_.sketch_table, at_once * sketch_keys);
      take(job_.sketch_ranges, 2 * at_once);
      job_.sketch_room = entry_capacity(at_once);
      take(job_.sketch_entries, 2 * job_.sketch_room);
    }
    Address end = at;
    for (const ReductionPlan::Kept& kept : plan_.kept) {
      at = shared;
      take(job_.kept_columns, kept.columns.size());
      if (!kept.resident) take(job_.kept, kept.columns.size() * static_cast<std::size_t>(kept_rows(kept)));
      end = std::max(end, at);
    }
    shared_ = shared;
    return end - base;
  }

  bool reserve_scratch() {
    const std::optional<Address> base = device_.reserve(assign_addresses(0));
    if (!base) return false;
    assign_addresses(*base);
    return true;
  }

  long long kept_skip(const ReductionPlan::Kept& kept) const {
    return (kept.stride - job_.first % kept.stride) % kept.stride;
  }
  long long kept_rows(const ReductionPlan::Kept& kept) const {
    const long long after = job_.blocks * reduced_block - kept_skip(kept);
    return after > 0 ? (after + kept.stride - 1) / kept.stride : 0;
  }

  void run(const char* reduction, const ReduceJob& job, long long count) {
    device_.run(reduction, &job, sizeof job, count);
  }

  // --- Copies ----------------------------------------------------------------------------------------------

  template <class T>
  void send(const T* to, const std::vector<T>& values) {
    if (!values.empty()) device_.copy_in(address_of(to), values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void fetch(std::vector<T>& to, const T* from, std::size_t count) {
    to.resize(count);
    if (count > 0) device_.copy_out(to.data(), address_of(from), count * sizeof(T));
  }
  template <class T>
  void clear(const T* at, std::size_t count) {
    if (count > 0) device_.clear(address_of(at), count * sizeof(T));
  }

  void send_plan() {
    send(job_.drawn, plan_.drawn);
    send(job_.series_given, plan_.series_given);
    send(job_.given, plan_.given);
    send(job_.sketch_columns, plan_.sketched);
    send(job_.sketch_pivots, plan_.pivots);
    for (const ReductionPlan::Counted& one : plan_.histograms) {
      histograms_.push_back({.column = static_cast<long long>(one.column),
                             .bins = static_cast<long long>(one.edges.size()) - 1,
                             .first_edge = static_cast<long long>(edges_.size()),
                             .first_count = counts_,
                             .per_width = one.per_width});
      edges_.insert(edges_.end(), one.edges.begin(), one.edges.end());
      counts_ += static_cast<long long>(one.edges.size()) + 1;
    }
    send(job_.histograms, histograms_);
    send(job_.edges, edges_);
    clear(job_.histogram_counts, static_cast<std::size_t>(counts_));
    clear(job_.sketch_extras, plan_.sketched.size());
    clear(job_.tally, 1);
  }

  // --- Member statuses -------------------------------------------------------------------------------------

  void tally() {
    run("reduce_tally", job_, tally_lanes);
    device_.copy_out(&made_.tally, address_of(job_.tally), sizeof made_.tally);
    if (made_.tally.status[static_cast<int>(Status::ok)] == static_cast<unsigned long long>(made_.count))
      return;
    // Statuses are copied only if some member failed or stopped early.
    std::vector<int> status;
    fetch(status, static_cast<const int*>(job_.batch.status), static_cast<std::size_t>(made_.count));
    for (std::size_t k = 0; k < status.size(); ++k) {
      std::vector<long long>& examples = made_.examples.at(static_cast<std::size_t>(status[k]));
      if (status[k] != static_cast<int>(Status::ok) && examples.size() < RunTally::examples_kept)
        examples.push_back(made_.first + static_cast<long long>(k));
    }
    made_.status = std::move(status);
  }

  // --- The tree --------------------------------------------------------------------------------------------

  // The leaves of the merge tree: blocks of 256 members.
  void reduce_blocks() {
    run("reduce_moments", job_, job_.blocks * job_.columns);
    if (plan_.replicates > 0) run("reduce_replicates", job_, job_.blocks * job_.columns * plan_.replicates);
    if (plan_.related() == 0) return;
    run("reduce_related_columns", job_, job_.blocks * job_.related_count);
    run("reduce_pairs", job_, job_.blocks * job_.pair_count);
  }

  // Merges siblings level by level. A node without a sibling remains; a merged node is stored in the place of
  // its first block.
  void merge_blocks() {
    const long long origin = made_.blocks.first_block;
    std::vector<BlockSummary::Place> left, right;
    long long begin = origin, end = origin + job_.blocks;
    for (int level = 0; begin < end; ++level, begin /= 2, end /= 2) {
      if (begin % 2 != 0) left.push_back({level, begin++});
      if (begin < end && end % 2 != 0) right.push_back({level, --end});
      if (begin < end) merge_level(level, begin, (end - begin) / 2);
    }
    std::vector<BlockSummary::Place>& nodes = made_.blocks.nodes;
    nodes = std::move(left);
    nodes.insert(nodes.end(), right.rbegin(), right.rend());
    for (const BlockSummary::Place& node : nodes) fetch_node((node.number << node.level) - origin);
  }

  void merge_level(int level, long long first_node, long long pairs) {
    job_.left = (first_node << level) - made_.blocks.first_block;
    job_.reach = 1LL << level;
    // Replicates and pairs need the pivots of both nodes, so they are merged before the pivots are.
    if (plan_.replicates > 0) run("reduce_merge_replicates", job_, pairs * job_.columns * plan_.replicates);
    run("reduce_merge_moments", job_, pairs * job_.columns);
    if (plan_.related() == 0) return;
    run("reduce_merge_pairs", job_, pairs * job_.pair_count);
    run("reduce_merge_related", job_, pairs * job_.related_count);
  }

  void fetch_node(long long place) {
    BlockSummary& to = made_.blocks;
    const auto one = [&](auto& list, const auto* from, std::size_t width) {
      const std::size_t had = list.size();
      list.resize(had + width);
      if (width > 0)
        device_.copy_out(list.data() + had, address_of(from + place * static_cast<long long>(width)),
                         width * sizeof list[0]);
    };
    one(to.parts, job_.parts, plan_.columns());
    one(to.replicates, job_.replicate_parts, plan_.columns() * static_cast<std::size_t>(plan_.replicates));
    one(to.related, job_.related, plan_.related());
    one(to.pairs, job_.pairs, plan_.pairs());
  }

  // Counts the values of some columns by groups of threads: enough groups to fill a device, of so many members that
  // adding up their counters takes little of the time.
  void run_groups(const char* reduction, long long columns) {
    constexpr long long wanted_groups = 1024, fewest_members = 4096;
    const long long members = job_.blocks * reduced_block;
    const long long runs = std::clamp(members / fewest_members, 1LL, (wanted_groups + columns - 1) / columns);
    job_.group_members = (members + runs - 1) / runs;
    run(reduction, job_, runs * columns * group_lanes);
  }

  // --- Counts ----------------------------------------------------------------------------------------------

  void count_histograms() {
    if (plan_.histograms.empty()) return;
    run_groups("reduce_histogram", job_.histogram_count);
    std::vector<unsigned long long> counts;
    fetch(counts, static_cast<const unsigned long long*>(job_.histogram_counts),
          static_cast<std::size_t>(counts_));
    for (const HistogramColumn& one : histograms_) {
      const auto begin = counts.begin() + one.first_count;
      made_.blocks.histograms.emplace_back(begin, begin + one.bins + 2);
    }
  }

  void send_windows() {
    std::vector<unsigned> windows;
    for (std::size_t k = 0; k < plan_.sketched.size(); ++k) {
      std::vector<ColumnPart> parts;
      for (std::size_t node = 0; node < made_.blocks.nodes.size(); ++node)
        parts.push_back(
            made_.blocks.parts[node * plan_.columns() + static_cast<std::size_t>(plan_.sketched[k])]);
      windows.push_back(first_key_of_window(plan_.pivots[k], parts));
    }
    send(job_.sketch_windows, windows);
  }

  void count_buckets() {
    send_windows();
    made_.blocks.sketches.resize(plan_.sketched.size());
    clear(job_.sketch_table, std::min(plan_.sketched.size(), most_sketched_at_once) * sketch_keys);
    for (std::size_t begin = 0; begin < plan_.sketched.size(); begin += most_sketched_at_once) {
      job_.sketch_first = static_cast<long long>(begin);
      job_.sketch_count =
          static_cast<long long>(std::min(plan_.sketched.size() - begin, most_sketched_at_once));
      clear(job_.sketch_ranges, static_cast<std::size_t>(2 * job_.sketch_count));
      run_groups("reduce_sketch", job_.sketch_count);
      fetch_entries();
    }
    device_.finish_copies();
    std::vector<SketchExtras> extras;
    fetch(extras, static_cast<const SketchExtras*>(job_.sketch_extras), plan_.sketched.size());
    for (std::size_t k = 0; k < extras.size(); ++k) made_.blocks.sketches[k].extras = extras[k];
  }

  // Copies the non-empty buckets, as many columns at a time as fit into one of the two entry lists, while the
  // other list is filled. Each column has its own range of a list.
  void fetch_entries() {
    const auto columns = static_cast<std::size_t>(job_.sketch_count);
    clear(job_.sketch_found, columns);
    run("reduce_sketch_sizes", job_, 2 * job_.sketch_count * sketch_stripes);
    std::vector<unsigned long long> sizes;
    fetch(sizes, static_cast<const unsigned long long*>(job_.sketch_found), columns);
    for (std::size_t begin = 0, end = 0; begin < columns; begin = end) {
      std::vector<unsigned long long> places;
      unsigned long long total = 0;
      for (end = begin; end < columns && total + sizes[end] <= job_.sketch_room; ++end) {
        places.push_back(total);
        total += sizes[end];
      }
      ReduceJob job = job_;
      job.sketch_first += static_cast<long long>(begin);
      job.sketch_count = static_cast<long long>(end - begin);
      job.sketch_table += begin * sketch_keys;
      job.sketch_ranges += 2 * begin;
      if (entry_lists_used_++ % 2 != 0) job.sketch_entries += job_.sketch_room;
      send(job.sketch_found, places);
      run("reduce_sketch_entries", job, 2 * job.sketch_count * sketch_stripes);
      const std::shared_ptr<HostBuffer> memory =
          device_.buffers().take(static_cast<std::size_t>(total) * sizeof(SketchEntry));
      if (total > 0)
        device_.copy_out_later(memory->data(), address_of(job.sketch_entries), memory->bytes().size());
      const auto* entries = reinterpret_cast<const SketchEntry*>(memory->data());
      for (std::size_t k = begin; k < end; ++k)
        made_.blocks.sketches[static_cast<std::size_t>(job_.sketch_first) + k].entries =
            std::span(entries + places[k - begin], static_cast<std::size_t>(sizes[k]));
      made_.blocks.sketch_memory.push_back(memory);
    }
  }

  bool keep_values() {
    for (const ReductionPlan::Kept& kept : plan_.kept) {
      job_.kept_count = static_cast<long long>(kept.columns.size());
      job_.kept_stride = kept.stride;
      job_.kept_skip = kept_skip(kept);
      job_.kept_rows = kept_rows(kept);
      job_.kept_columns = pointer<long long>(shared_);
      job_.kept = pointer<double>(shared_ + (kept.columns.size() * sizeof(long long) + 255) / 256 * 256);
      const auto rows = static_cast<std::size_t>(job_.kept_rows);
      auto& columns = made_.blocks.kept.emplace_back();
      if (kept.resident) {
        const auto memory = device_.allocate(kept.columns.size() * rows * sizeof(double));
        if (!memory) return false;
        made_.blocks.device_columns = make_device_columns(device_, *memory, kept.columns.size(), rows);
        job_.kept = pointer<double>(*memory);
      }
      send(job_.kept_columns, kept.columns);
      run("reduce_keep", job_, job_.kept_count * job_.kept_rows);
      for (std::size_t c = 0; c < kept.columns.size() && !kept.resident; ++c)
        fetch(columns.emplace_back(), static_cast<const double*>(job_.kept + c * rows), rows);
    }
    return true;
  }

  // --- The incomplete block --------------------------------------------------------------------------------

  // Its rows are copied as they are; the host adds them member by member.
  void fetch_incomplete_block() {
    const auto begin = static_cast<std::size_t>(job_.blocks * reduced_block);
    const std::size_t rows = static_cast<std::size_t>(made_.count) - begin;
    if (rows > 0) made_.tail = fetch_rows(device_, plan_, job_.batch, begin, rows);
  }

  ReductionDevice& device_;
  const ReductionPlan& plan_;
  ReduceJob job_{};
  ReducedMembers made_;
  Address shared_ = 0;
  std::vector<HistogramColumn> histograms_;
  std::vector<double> edges_;
  long long counts_ = 0;
  std::size_t entry_lists_used_ = 0;
};

}  // namespace

ReductionBytes reduction_bytes(const ReductionPlan& plan) {
  const std::size_t block = plan.columns() * (sizeof(ColumnPart) + static_cast<std::size_t>(plan.replicates) *
                                                                       sizeof(ReplicatePart)) +
                            plan.related() * sizeof(RelatedColumn) + plan.pairs() * sizeof(RelatedPair);
  ReductionBytes bytes;
  bytes.per_member = 1 + block / reduced_block + 1;
  for (const ReductionPlan::Kept& kept : plan.kept)
    bytes.per_member += 8 * kept.columns.size() / static_cast<std::size_t>(kept.stride);
  const std::size_t at_once = std::min(plan.sketched.size(), most_sketched_at_once);
  bytes.fixed = (std::size_t{1} << 20) + 100 * plan.columns();
  if (at_once > 0)
    bytes.fixed +=
        at_once * sketch_keys * sizeof(unsigned) + 2 * entry_capacity(at_once) * sizeof(SketchEntry);
  return bytes;
}

DeviceRows fetch_rows(ReductionDevice& device, const ReductionPlan& plan, const KernelBatch& batch,
                      std::size_t begin, std::size_t count) {
  DeviceRows made;
  const auto fetch = [&](auto& to, const auto* from, std::size_t width) {
    to.resize(count * width);
    if (!to.empty()) device.copy_out(to.data(), address_of(from + begin * width), to.size() * sizeof to[0]);
  };
  fetch(made.status, batch.status, 1);
  fetch(made.observables, batch.observables, plan.series);
  fetch(made.measures, batch.measures, plan.measures + plan.flags);
  fetch(made.parameters, batch.parameters, plan.parameters);
  return made;
}

std::optional<ReducedMembers> reduce_members(ReductionDevice& device, const ReductionPlan& plan,
                                             const KernelBatch& batch, long long first) {
  return MemberReduction(device, plan, batch, first).run();
}

}  // namespace zwang
