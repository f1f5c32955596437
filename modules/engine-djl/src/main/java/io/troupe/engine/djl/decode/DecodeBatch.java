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
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which groups are decoded, and in how much of the cache.
 *
 * <p><b>Places.</b> A group is in one of three places. It <em>waits</em> in the sampler's queue,
 * without a token; its rows have <em>slots</em>; or they are <em>preempted</em>: they keep their
 * tokens, and their keys and values are computed again. A group or row changes places when the
 * native work that this takes is done ({@link DecodeSlots}), so that a failure leaves it where it
 * was.
 *
 * <p><b>Budget.</b> The slots in use never have room for more tokens together than the budget says,
 * unless they are one group's. A group joins when its prompt fits; when completions outgrow their
 * slots and the budget is taken, the youngest groups are preempted, and come back before anyone new
 * joins. The budget is {@link ComputeSettings#kvTokens}, which no admitted request exceeds alone.
 * The oldest group therefore always goes on, and with it everything.
 *
 * <p><b>Shortage.</b> When memory runs out in spite of the budget, it is halved ({@link
 * #shrinkBudget}); after {@link #CALM_STEPS} steps without a shortage it doubles, up to where it
 * began. A group that has the cache for itself and still finds no memory is tried again after a
 * growing pause, and fails after {@link #TRIES}. When the next one fares the same, the batch fails.
 */
public final class DecodeBatch implements AutoCloseable {
  /** Steps after which a budget that was halved doubles. */
  static final int CALM_STEPS = 512;

  /** Shortages in a row of a group that was alone. */
  static final int TRIES = 7;

  private static final int LEAST_PREFILL = 2;
  private static final int PAUSE_FACTOR_BITS = 2;

  private final ComputeSettings compute;
  private final int context;
  private final DecodeSlots slots;
  private final List<DecodeRow> preempted = new ArrayList<>();

  /** Groups that are being read into slots, and have none yet. */
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
    this.budget = compute.kvTokens();
    this.prefillTokens = compute.microBatchTokens();
  }

  /** The most cache a request can come to need, in tokens. */
  static long maxCacheTokens(SampleRequest request, int context) {
    long longest = (long) request.prompt().length + request.settings().maxTokens();
    int most = (int) Math.min(context, longest);
    return KvCache.tokens(request.completions(), most, context);
  }

  /** Tokens that the slots of several groups may have room for. */
  long budget() {
    return budget;
  }

  /** How many completions have a slot. */
  int size() {
    return slots.size();
  }

  /** How many tokens the slots in use have room for. */
  long reserved() {
    return slots.reserved();
  }

  /** Tokens that the cache's tensors have memory for. */
  long capacity() {
    return slots.capacity();
  }

  /** Completions that wait for room to come back. */
  int preempted() {
    return preempted.size();
  }

  /** Whether there is no completion to go on with. */
  public boolean isIdle() {
    return slots.size() == 0 && preempted.isEmpty();
  }

  /** Milliseconds to wait before memory is asked for again. */
  long pauseMillis() {
    return shortagesOfOneGroup == 0 ? 0 : 1L << (PAUSE_FACTOR_BITS * (shortagesOfOneGroup - 1));
  }

  /**
   * Lets finished completions leave, moves those that have outgrown their slots, and brings
   * preempted ones back where there is room.
   */
  public void prepare() {
    removeFinished();
    while (slots.reserved() + slots.promotionTokens() > budget && groups() > 1) {
      preemptYoungest();
    }
    slots.moveToLargerPool();
    resume();
  }

  /** Lets finished completions leave. */
  void removeFinished() {
    slots.remove(DecodeRow::done, _ -> {});
    preempted.removeIf(DecodeRow::done);
  }

  private long groups() {
    return slots.rows().stream().map(DecodeRow::group).distinct().count();
  }

  private void preemptYoungest() {
    long youngest = slots.rows().stream().mapToLong(DecodeRow::age).max().orElseThrow();
    slots.remove(row -> row.age() == youngest, preempted::addAll);
    preempted.sort(Comparator.comparingLong(DecodeRow::age));
  }

  private void resume() {
    while (!preempted.isEmpty()) {
      long oldest = preempted.getFirst().age();
      List<DecodeRow> rows = preempted.stream().filter(row -> row.age() == oldest).toList();
      long tokens = cacheTokens(rows);
      boolean fits =
          slots.size() + rows.size() <= compute.decodeRows() && slots.reserved() + tokens <= budget;
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
              read -> preempted.removeAll(new HashSet<>(read)));
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
   * Lets groups in, oldest first, while there is room for them: reads their prompts and draws the
   * first token of each of their completions. A prompt is read once, whatever the size of its
   * group, and also for groups that have the same.
   *
   * @param waiting groups leave it as they enter
   */
  public void admit(Deque<SampleGroup> waiting, WeightVersion version) {
    prefilling.addAll(admissible(waiting));
    PrefillBatch prefill =
        new PrefillBatch(
            slots,
            prefillTokens,
            Optional.of(version),
            read -> {
              resetShortages();
              for (DecodeRow row : read) {
                if (prefilling.remove(row.group())) {
                  waiting.remove(row.group());
                }
              }
            });
    for (SampleGroup group : List.copyOf(prefilling)) {
      admittedGroups++;
      prefill.startSequence(group.request().prompt());
      for (int i = 0; i < group.request().completions(); i++) {
        prefill.add(new DecodeRow(group, i, context, admittedGroups));
      }
    }
    prefill.flush();
    removeFinished();
  }

  private List<SampleGroup> admissible(Deque<SampleGroup> waiting) {
    List<SampleGroup> fitting = new ArrayList<>();
    int rows = slots.size();
    long tokens = slots.reserved() + slots.promotionTokens();
    for (SampleGroup group : waiting) {
      rows += group.request().completions();
      tokens += initialCacheTokens(group);
      boolean alone = slots.size() == 0 && fitting.isEmpty();
      boolean fits = rows <= compute.decodeRows() && tokens <= budget;
      if (!preempted.isEmpty() || !(fits || alone)) {
        break;
      }
      fitting.add(group);
    }
    return fitting;
  }

  private long initialCacheTokens(SampleGroup group) {
    SampleRequest request = group.request();
    return (long) request.completions() * slots.slotTokensFor(request.prompt().length + 1);
  }

  /** Draws one token for every completion that has a slot. */
  public void step(WeightVersion version) {
    if (slots.size() == 0) {
      return;
    }
    slots.step(version);
    resetShortages();
    stepsWithoutShortage++;
    if (stepsWithoutShortage == CALM_STEPS) {
      stepsWithoutShortage = 0;
      budget = doubledUpTo(budget, compute.kvTokens());
      prefillTokens = (int) doubledUpTo(prefillTokens, compute.microBatchTokens());
    }
    removeFinished();
  }

  private static long doubledUpTo(long value, long most) {
    return value > most / 2 ? most : 2 * value;
  }

  private void resetShortages() {
    shortagesOfOneGroup = 0;
    failedGroups = 0;
  }

  /** Reads all rows into the cache again, with the weights as they are now. */
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

  /** Frees the cache; its completions are preempted. */
  void freeCache() {
    preempted.addAll(slots.clear());
    preempted.removeIf(DecodeRow::done);
    preempted.sort(Comparator.comparingLong(DecodeRow::age));
    prefilling.clear();
  }

  /**
   * Goes on after memory ran out, with room for half the tokens that were asked for. The cache is
   * freed; no token that was drawn is lost or drawn again.
   *
   * @throws IllegalStateException if there is no memory even for one group after the other
   */
  public void shrinkBudget(TorchOutOfMemoryException shortage) {
    Set<SampleGroup> trying = new LinkedHashSet<>(prefilling);
    slots.rows().forEach(row -> trying.add(row.group()));
    long asked = slots.reserved() + slots.promotionTokens();
    for (SampleGroup group : prefilling) {
      List<DecodeRow> back = preempted.stream().filter(row -> row.group().equals(group)).toList();
      asked += back.isEmpty() ? initialCacheTokens(group) : cacheTokens(back);
    }
    freeCache();
    budget = Math.max(1, Math.min(budget, asked) / 2);
    prefillTokens = Math.max(LEAST_PREFILL, prefillTokens / 2);
    stepsWithoutShortage = 0;
    shortagesOfOneGroup = trying.size() > 1 ? 0 : shortagesOfOneGroup + 1;
    if (shortagesOfOneGroup == TRIES) {
      shortagesOfOneGroup = 0;
      trying.forEach(group -> failGroup(group, shortage));
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
