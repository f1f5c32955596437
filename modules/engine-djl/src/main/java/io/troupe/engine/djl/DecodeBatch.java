package io.troupe.engine.djl;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
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
final class DecodeBatch implements AutoCloseable {
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
  private final Set<SampleGroup> entering = new LinkedHashSet<>();

  private long budget;
  private int prefillTokens;
  private long groupsJoined;
  private int calmSteps;
  private int shortagesAlone;
  private int groupsGivenUp;

  DecodeBatch(
      Decoder decoder, SamplingWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    this.compute = compute;
    this.context = decoder.settings().contextLength();
    this.slots = new DecodeSlots(decoder, weights, compute, tokenizer);
    this.budget = compute.kvTokens();
    this.prefillTokens = compute.microBatchTokens();
  }

  /** The most cache a request can come to need, in tokens. */
  static long mostTokens(SampleRequest request, int context) {
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
  boolean isIdle() {
    return slots.size() == 0 && preempted.isEmpty();
  }

  /** Milliseconds to wait before memory is asked for again. */
  long pauseMillis() {
    return shortagesAlone == 0 ? 0 : 1L << (PAUSE_FACTOR_BITS * (shortagesAlone - 1));
  }

  /**
   * Lets finished completions leave, moves those that have outgrown their slots, and brings
   * preempted ones back where there is room.
   */
  void prepare() {
    sweep();
    while (slots.reserved() + slots.growth() > budget && groups() > 1) {
      preemptYoungest();
    }
    slots.promote();
    resume();
  }

  /** Lets finished completions leave. */
  void sweep() {
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
      long tokens = room(rows);
      boolean fits =
          slots.size() + rows.size() <= compute.decodeRows() && slots.reserved() + tokens <= budget;
      if (!fits && slots.size() > 0) {
        return;
      }
      SampleGroup group = rows.getFirst().group();
      entering.add(group);
      Prefill prefill =
          new Prefill(
              slots,
              prefillTokens,
              Optional.empty(),
              read -> preempted.removeAll(new HashSet<>(read)));
      for (DecodeRow row : rows) {
        prefill.begin(row.cached());
        prefill.enter(row);
      }
      prefill.finish();
      entering.remove(group);
    }
  }

  private long room(List<DecodeRow> rows) {
    return rows.stream().mapToLong(row -> slots.roomFor(row.length())).sum();
  }

  /**
   * Lets groups in, oldest first, while there is room for them: reads their prompts and draws the
   * first token of each of their completions. A prompt is read once, whatever the size of its
   * group, and also for groups that have the same.
   *
   * @param waiting groups leave it as they enter
   */
  void join(Deque<SampleGroup> waiting, WeightVersion version) {
    entering.addAll(fitting(waiting));
    Prefill prefill =
        new Prefill(
            slots,
            prefillTokens,
            Optional.of(version),
            read -> {
              drew();
              for (DecodeRow row : read) {
                if (entering.remove(row.group())) {
                  waiting.remove(row.group());
                }
              }
            });
    for (SampleGroup group : List.copyOf(entering)) {
      groupsJoined++;
      prefill.begin(group.request().prompt());
      for (int i = 0; i < group.request().completions(); i++) {
        prefill.enter(new DecodeRow(group, i, context, groupsJoined));
      }
    }
    prefill.finish();
    sweep();
  }

  private List<SampleGroup> fitting(Deque<SampleGroup> waiting) {
    List<SampleGroup> fitting = new ArrayList<>();
    int rows = slots.size();
    long tokens = slots.reserved() + slots.growth();
    for (SampleGroup group : waiting) {
      rows += group.request().completions();
      tokens += firstRoom(group);
      boolean alone = slots.size() == 0 && fitting.isEmpty();
      boolean fits = rows <= compute.decodeRows() && tokens <= budget;
      if (!preempted.isEmpty() || !(fits || alone)) {
        break;
      }
      fitting.add(group);
    }
    return fitting;
  }

  private long firstRoom(SampleGroup group) {
    SampleRequest request = group.request();
    return (long) request.completions() * slots.roomFor(request.prompt().length + 1);
  }

  /** Draws one token for every completion that has a slot. */
  void step(WeightVersion version) {
    if (slots.size() == 0) {
      return;
    }
    slots.step(version);
    drew();
    calmSteps++;
    if (calmSteps == CALM_STEPS) {
      calmSteps = 0;
      budget = doubled(budget, compute.kvTokens());
      prefillTokens = (int) doubled(prefillTokens, compute.microBatchTokens());
    }
    sweep();
  }

  private static long doubled(long value, long most) {
    return value > most / 2 ? most : 2 * value;
  }

  private void drew() {
    shortagesAlone = 0;
    groupsGivenUp = 0;
  }

  /** Reads all rows into the cache again, with the weights as they are now. */
  void recompute() {
    sweep();
    Prefill prefill = new Prefill(slots, prefillTokens, Optional.empty(), _ -> {});
    for (int pool = 0; pool < slots.pools(); pool++) {
      for (int slot = 0; slot < slots.size(pool); slot++) {
        prefill.begin(slots.row(pool, slot).cached());
        prefill.stay(pool, slot);
      }
    }
    prefill.finish();
  }

  /** Frees the cache; its completions are preempted. */
  void release() {
    preempted.addAll(slots.clear());
    preempted.removeIf(DecodeRow::done);
    preempted.sort(Comparator.comparingLong(DecodeRow::age));
    entering.clear();
  }

  /**
   * Goes on after memory ran out, with room for half the tokens that were asked for. The cache is
   * freed; no token that was drawn is lost or drawn again.
   *
   * @throws IllegalStateException if there is no memory even for one group after the other
   */
  void shrinkBudget(OutOfMemoryException shortage) {
    Set<SampleGroup> trying = new LinkedHashSet<>(entering);
    slots.rows().forEach(row -> trying.add(row.group()));
    long asked = slots.reserved() + slots.growth();
    for (SampleGroup group : entering) {
      List<DecodeRow> back = preempted.stream().filter(row -> row.group().equals(group)).toList();
      asked += back.isEmpty() ? firstRoom(group) : room(back);
    }
    release();
    budget = Math.max(1, Math.min(budget, asked) / 2);
    prefillTokens = Math.max(LEAST_PREFILL, prefillTokens / 2);
    calmSteps = 0;
    shortagesAlone = trying.size() > 1 ? 0 : shortagesAlone + 1;
    if (shortagesAlone == TRIES) {
      shortagesAlone = 0;
      trying.forEach(group -> giveUp(group, shortage));
    }
  }

  private void giveUp(SampleGroup group, OutOfMemoryException shortage) {
    groupsGivenUp++;
    String what =
        "%s may need a cache of %d tokens, but memory ran out %d times in a row with nothing else"
            .formatted(group.request().lease(), mostTokens(group.request(), context), TRIES);
    IllegalStateException failure =
        new IllegalStateException(
            what
                + " in it; ask for fewer or shorter completions, or take a device with more memory",
            shortage);
    if (groupsGivenUp > 1) {
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
