package io.troupe.engine.djl.decode;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.TorchOutOfMemoryException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The scheduler of continuous batching: which groups decode, and how much of the KV cache they
 * hold.
 *
 * <p><b>States.</b> A group is in one of three states. A <em>waiting</em> group is in the sampler's
 * queue and has no token. A <em>running</em> group has a slot for each of its rows. A
 * <em>preempted</em> group has lost its slots: its rows keep their tokens, and their keys and
 * values are computed again when the group resumes. A row changes its state after the native work
 * of the change is done ({@link DecodeSlots}), so that a failure leaves every row in its former
 * state.
 *
 * <p><b>Budget.</b> The slots in use never reserve more tokens together than the budget, unless one
 * group holds all of them. A group is admitted when its prompt fits. When completions outgrow their
 * slots and the budget is used up, the groups that were admitted last are preempted; they resume
 * before any waiting group is admitted. The budget is {@link ComputeSettings.Decoding#kvTokens},
 * and the sampler refuses a request that alone exceeds it. The group that was admitted first
 * therefore always continues, and every other group has its turn.
 *
 * <p><b>Out of memory.</b> When memory runs out in spite of the budget, the budget is halved
 * ({@link #shrinkBudget}); after {@link #CALM_STEPS} steps without a shortage the budget doubles,
 * up to its first value. A group that has the cache for itself and still finds no memory is tried
 * again after a growing pause, and fails after {@link #TRIES} shortages. When the next group fails
 * in the same way, the batch fails.
 */
public final class DecodeBatch implements AutoCloseable {
  /** The number of steps without a shortage after which the budget doubles. */
  static final int CALM_STEPS = 512;

  /** The number of shortages in a row after which a group that has the cache for itself fails. */
  static final int TRIES = 7;

  private static final int MIN_PREFILL_TOKENS = 2;
  private static final int PAUSE_FACTOR_BITS = 2;

  private final ComputeSettings compute;
  private final int context;
  private final DecodeSlots slots;
  private final List<DecodeRow> preempted = new ArrayList<>();

  /** Groups in a running prefill: they have no slots yet. */
  private final Set<SampleGroup> prefilling = new LinkedHashSet<>();

  private long budget;
  private int prefillTokens;
  private long admittedGroups;
  private int stepsWithoutShortage;
  private int shortagesOfOneGroup;
  private int failedGroups;

  public DecodeBatch(
      Decoder decoder, DecodeWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    this.compute = compute;
    this.context = decoder.settings().contextLength();
    this.slots = new DecodeSlots(decoder, weights, compute, tokenizer);
    this.budget = compute.decoding().kvTokens();
    this.prefillTokens = compute.microBatchTokens();
  }

  /** Returns the most tokens of KV cache that a request can need. */
  static long maxCacheTokens(SampleRequest request, int context) {
    long longestSequence = (long) request.prompt().length + request.settings().maxTokens();
    int limit = (int) Math.min(context, longestSequence);
    return KvCache.tokens(request.completions(), limit, context);
  }

  /** Returns the most tokens that the slots of several groups may reserve. */
  long budget() {
    return budget;
  }

  /** Returns the number of completions that have a slot. */
  int size() {
    return slots.size();
  }

  /** Returns the number of tokens that the slots in use have room for. */
  long reserved() {
    return slots.reserved();
  }

  /** Returns the number of tokens that the tensors of the cache have memory for. */
  long capacity() {
    return slots.capacity();
  }

  /** Returns the number of preempted completions. */
  int preempted() {
    return preempted.size();
  }

  /** Whether no completion is running or preempted. */
  public boolean isIdle() {
    return slots.size() == 0 && preempted.isEmpty();
  }

  /** Returns the milliseconds to wait before the next attempt to allocate memory. */
  long pauseMillis() {
    return shortagesOfOneGroup == 0 ? 0 : 1L << (PAUSE_FACTOR_BITS * (shortagesOfOneGroup - 1));
  }

  /**
   * Prepares the next step: removes finished completions, preempts groups that exceed the budget,
   * moves completions that have outgrown their slots to larger slots, and resumes preempted groups
   * that fit.
   */
  public void prepare() {
    removeFinished();
    while (slots.reserved() + slots.promotionTokens() > budget && groups() > 1) {
      preemptLatest();
    }
    slots.moveToLargerPool();
    resume();
  }

  /** Removes finished completions from their slots and from the preempted rows. */
  void removeFinished() {
    slots.remove(DecodeRow::done, _ -> {});
    preempted.removeIf(DecodeRow::done);
  }

  private long groups() {
    return slots.rows().stream().map(DecodeRow::group).distinct().count();
  }

  private void preemptLatest() {
    long latest = slots.rows().stream().mapToLong(DecodeRow::arrival).max().orElseThrow();
    slots.remove(row -> row.arrival() == latest, preempted::addAll);
    preempted.sort(Comparator.comparingLong(DecodeRow::arrival));
  }

  private void resume() {
    while (!preempted.isEmpty()) {
      long earliest = preempted.getFirst().arrival();
      List<DecodeRow> rows = preempted.stream().filter(row -> row.arrival() == earliest).toList();
      long tokens = cacheTokens(rows);
      boolean fits =
          slots.size() + rows.size() <= compute.decoding().rows()
              && slots.reserved() + tokens <= budget;
      if (!fits && slots.size() > 0) {
        return;
      }
      SampleGroup group = rows.getFirst().group();
      prefilling.add(group);
      PrefillBatch prefill =
          new PrefillBatch(
              slots,
              prefillTokens,
              Optional.empty(),
              resumed -> {
                resumed.forEach(DecodeRow::resumed);
                preempted.removeAll(new HashSet<>(resumed));
              });
      for (DecodeRow row : rows) {
        prefill.startSequence(row.cachedTokens());
        prefill.add(row);
      }
      prefill.flush();
      prefilling.remove(group);
    }
  }

  private long cacheTokens(List<DecodeRow> rows) {
    return rows.stream().mapToLong(row -> slots.slotTokensFor(row.length())).sum();
  }

  /**
   * Admits waiting groups in order of arrival while the next one fits: prefills their prompts and
   * samples the first token of each of their completions. The prefill computes a prompt once for
   * all completions of its group, and once for several groups with the same prompt.
   *
   * @param waiting the queue; a group leaves it after its prefill
   */
  public void admit(Deque<SampleGroup> waiting, WeightVersion version) {
    prefilling.addAll(admissible(waiting));
    PrefillBatch prefill =
        new PrefillBatch(
            slots,
            prefillTokens,
            Optional.of(version),
            admitted -> {
              resetShortages();
              for (DecodeRow row : admitted) {
                if (prefilling.remove(row.group())) {
                  waiting.remove(row.group());
                }
              }
            });
    long arrival = admittedGroups;
    Map<SampleGroup, Long> arrivals = new HashMap<>();
    for (SampleGroup group : prefilling) {
      arrival++;
      arrivals.put(group, arrival);
    }
    admittedGroups = arrival;
    for (SampleGroup group : byPromptRoom(prefilling)) {
      prefill.startSequence(group.request().prompt());
      for (int i = 0; i < group.request().completions(); i++) {
        prefill.add(new DecodeRow(group, i, context, arrivals.getOrDefault(group, 0L)));
      }
    }
    prefill.flush();
    removeFinished();
  }

  /** The groups in an order that lets a prefill compute many prompts in one call. */
  private List<SampleGroup> byPromptRoom(Set<SampleGroup> groups) {
    return groups.stream()
        .sorted(
            Comparator.comparingInt(group -> slots.prefillRoom(group.request().prompt().length)))
        .toList();
  }

  private List<SampleGroup> admissible(Deque<SampleGroup> waiting) {
    List<SampleGroup> admissible = new ArrayList<>();
    int rows = slots.size();
    long tokens = slots.reserved() + slots.promotionTokens();
    for (SampleGroup group : waiting) {
      rows += group.request().completions();
      tokens += initialCacheTokens(group);
      boolean first = slots.size() == 0 && admissible.isEmpty();
      boolean fits = rows <= compute.decoding().rows() && tokens <= budget;
      if (!preempted.isEmpty() || !(fits || first)) {
        break;
      }
      admissible.add(group);
    }
    return admissible;
  }

  private long initialCacheTokens(SampleGroup group) {
    SampleRequest request = group.request();
    return (long) request.completions() * slots.slotTokensFor(request.prompt().length + 1);
  }

  /** Samples one token for every completion that has a slot. */
  public void step(WeightVersion version) {
    if (slots.size() == 0) {
      return;
    }
    slots.step(version);
    resetShortages();
    stepsWithoutShortage++;
    if (stepsWithoutShortage == CALM_STEPS) {
      stepsWithoutShortage = 0;
      budget = doubledUpTo(budget, compute.decoding().kvTokens());
      prefillTokens = (int) doubledUpTo(prefillTokens, compute.microBatchTokens());
    }
    removeFinished();
  }

  private static long doubledUpTo(long value, long limit) {
    return value > limit / 2 ? limit : 2 * value;
  }

  private void resetShortages() {
    shortagesOfOneGroup = 0;
    failedGroups = 0;
  }

  /** Computes the keys and values of all rows again, under the weights in use. */
  public void recompute() {
    removeFinished();
    PrefillBatch prefill = new PrefillBatch(slots, prefillTokens, Optional.empty(), _ -> {});
    for (int pool = 0; pool < slots.pools(); pool++) {
      for (int slot = 0; slot < slots.size(pool); slot++) {
        prefill.startSequence(slots.row(pool, slot).cachedTokens());
        prefill.addInPlace(pool, slot);
      }
    }
    prefill.flush();
  }

  /** Frees the memory of the cache and preempts the completions in it. */
  void freeCache() {
    preempted.addAll(slots.clear());
    preempted.removeIf(DecodeRow::done);
    preempted.sort(Comparator.comparingLong(DecodeRow::arrival));
    prefilling.clear();
  }

  /**
   * Continues after memory ran out, with a budget of half the tokens that were asked for. The cache
   * is freed; no sampled token is lost or sampled again.
   *
   * @throws IllegalStateException if two groups in a row found no memory although each had the
   *     cache for itself
   */
  public void shrinkBudget(TorchOutOfMemoryException shortage) {
    Set<SampleGroup> attempted = new LinkedHashSet<>(prefilling);
    slots.rows().forEach(row -> attempted.add(row.group()));
    long requested = slots.reserved() + slots.promotionTokens();
    for (SampleGroup group : prefilling) {
      List<DecodeRow> preemptedRows =
          preempted.stream().filter(row -> row.group().equals(group)).toList();
      requested += preemptedRows.isEmpty() ? initialCacheTokens(group) : cacheTokens(preemptedRows);
    }
    freeCache();
    budget = Math.max(1, Math.min(budget, requested) / 2);
    prefillTokens = Math.max(MIN_PREFILL_TOKENS, prefillTokens / 2);
    stepsWithoutShortage = 0;
    shortagesOfOneGroup = attempted.size() > 1 ? 0 : shortagesOfOneGroup + 1;
    if (shortagesOfOneGroup == TRIES) {
      shortagesOfOneGroup = 0;
      attempted.forEach(group -> failGroup(group, shortage));
    }
  }

  private void failGroup(SampleGroup group, TorchOutOfMemoryException shortage) {
    failedGroups++;
    String what =
        "%s may need a cache of %d tokens, but memory ran out %d times in a row with nothing else"
            .formatted(group.request().lease(), maxCacheTokens(group.request(), context), TRIES);
    IllegalStateException failure =
        new IllegalStateException(
            what
                + " in it; ask for fewer or shorter completions, or take a device with more memory",
            shortage);
    if (failedGroups > 1) {
      throw failure;
    }
    group.fail(failure);
    preempted.removeIf(DecodeRow::done);
  }

  @Override
  public void close() {
    slots.close();
  }
}
