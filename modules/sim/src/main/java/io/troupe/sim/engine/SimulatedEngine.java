package io.troupe.sim.engine;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.EngineModel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** An engine that decodes in virtual time, with continuous batching. */
final class SimulatedEngine implements CpuShares.Shared {
  /*
   * All rows advance together, one token a step, so the engine has one clock of its own: steps. A
   * row that joins at step s with L tokens leaves at s + L, and only the next row to leave is on the
   * agenda. Between two changes the time of a step grows linearly with the context, so the time of n
   * steps is first·n + slope·n²/2, and its inverse a square root: no event per token.
   */
  private static final double ALMOST = 1e-6;
  private static final double HORIZON = 4096;
  private static final double MICROS = 1e6;
  private static final int MOST_MARKS = 16;

  private final Agenda agenda;
  private final EngineModel model;
  private final double prompt;
  private final double threads;
  private final CpuShares cpu;
  private final int maxRows;
  private final int maxTokens;
  private final double straggling;
  private final Consumer<ActiveGroup> sampled;
  private final DecodeRows rows = new DecodeRows();
  private final Deque<ActiveGroup> waiting = new ArrayDeque<>();
  private final List<Mark> marks = new ArrayList<>();

  private double step;
  private double context;
  private double decoding;
  private double slowness;
  private long syncedAt;
  private long stalledUntil;
  private long stamp;
  private long busyMicros;
  private double rowSeconds;
  private double tokens;

  /** The step from which on a version samples. */
  private record Mark(double step, WeightVersion version) {}

  /** What an engine is made of. */
  record Parts(
      Agenda agenda,
      EngineModel model,
      double promptTokens,
      int maxRows,
      int maxTokens,
      double threads,
      CpuShares cpu,
      double straggling) {}

  SimulatedEngine(Parts parts, Consumer<ActiveGroup> sampled) {
    this.agenda = parts.agenda();
    this.model = parts.model();
    this.prompt = parts.promptTokens();
    this.threads = parts.threads();
    this.cpu = parts.cpu();
    this.maxRows = parts.maxRows();
    this.maxTokens = parts.maxTokens();
    this.straggling = parts.straggling();
    this.decoding = parts.straggling();
    this.slowness = parts.straggling() * parts.cpu().factor();
    this.sampled = sampled;
    cpu.register(this);
  }

  /** Takes new weights from the present token on. */
  void load(WeightVersion version, double seconds) {
    sync();
    marks.add(new Mark(step, version));
    if (rows.size() == 0 || marks.size() >= MOST_MARKS) {
      marks.subList(0, markAt(rows.oldestJoin(step))).clear();
    }
    follow();
    stall(seconds);
    plan();
  }

  /** Completions continue as the new weights sample them. */
  private void follow() {
    if (!rows.any(ActiveGroup::followsWeights)) {
      return;
    }
    Set<ActiveGroup> moved = new LinkedHashSet<>();
    List<Runnable> returns = new ArrayList<>();
    rows.removeIf(
        ActiveGroup::followsWeights,
        (group, index) -> {
          moved.add(group);
          returns.add(() -> rows.add(group.joined() + group.lengths()[index], group, index));
        });
    moved.forEach(group -> group.sample(spans(group.joined(), maxTokens)));
    returns.forEach(Runnable::run);
  }

  void sample(List<ActiveGroup> groups) {
    waiting.addAll(groups);
    sync();
    admit();
    plan();
  }

  /** Ends what is sampled of a lease; returns whether there was anything. */
  boolean cancel(LeaseId lease) {
    boolean queued = waiting.removeIf(group -> group.lease().equals(lease));
    sync();
    int before = rows.size();
    rows.removeIf(
        group -> group.lease().equals(lease),
        (group, _) -> context -= prompt + step - group.joined());
    boolean decoded = rows.size() < before;
    if (decoded) {
      freed();
      admit();
      plan();
    }
    return queued || decoded;
  }

  /** Ends everything, as the death of its process does. */
  void clear() {
    sync();
    waiting.clear();
    boolean busy = rows.size() > 0;
    rows.clear();
    context = 0;
    if (busy) {
      cpu.add(-threads);
    }
    stamp++;
  }

  /** Makes each step take longer, for a slow minute or from a fault. */
  void degrade(double factor) {
    sync();
    decoding = straggling * factor;
    slowness = decoding * cpu.factor();
    plan();
  }

  @Override
  public void slow(double factor) {
    sync();
    slowness = decoding * factor;
    plan();
  }

  /** Microseconds with anything to decode. */
  long busyMicros() {
    sync();
    return busyMicros;
  }

  /** Seconds times rows, of which a full batch has the most. */
  double rowSeconds() {
    return rowSeconds;
  }

  /** Tokens of context, prompts included, that all rows hold. */
  double context() {
    return context;
  }

  double tokens() {
    return tokens;
  }

  private void admit() {
    while (!waiting.isEmpty()
        && (rows.size() == 0 || rows.size() + waiting.getFirst().completions() <= maxRows)) {
      ActiveGroup group = waiting.removeFirst();
      if (rows.size() == 0) {
        cpu.add(threads);
      }
      stall(model.prefillSeconds() + model.prefillSecondsPerToken() * prompt);
      group.join(step);
      group.sample(spans(step, maxTokens));
      int[] lengths = group.lengths();
      for (int i = 0; i < lengths.length; i++) {
        rows.add(step + lengths[i], group, i);
      }
      context += prompt * lengths.length;
    }
  }

  private void stall(double seconds) {
    if (seconds > 0) {
      stalledUntil = Math.max(stalledUntil, agenda.now()) + Agenda.micros(seconds * slowness);
    }
  }

  /** Advances the steps to the present, up to which no row leaves. */
  private void sync() {
    long now = agenda.now();
    if (rows.size() > 0 && now > syncedAt) {
      busyMicros += now - syncedAt;
      rowSeconds += (now - syncedAt) / MICROS * rows.size();
      long from = Math.max(syncedAt, stalledUntil);
      if (now > from) {
        double steps =
            Math.min(stepsIn((now - from) / MICROS / slowness), rows.firstLeaves() - step);
        advance(Math.max(0, steps));
      }
    }
    syncedAt = now;
  }

  private void advance(double steps) {
    step += steps;
    context += steps * rows.size();
    tokens += steps * rows.size();
  }

  private double first() {
    return model.decode().stepSeconds(rows.size(), context);
  }

  /** How much longer each step takes than the one before. */
  private double slope(double first) {
    DecodeModel decode = model.decode();
    double steps = Math.clamp(rows.firstLeaves() - step, 1, HORIZON);
    return (decode.stepSeconds(rows.size(), context + rows.size() * steps) - first) / steps;
  }

  private double stepsIn(double seconds) {
    double first = first();
    double slope = slope(first);
    return slope * seconds < ALMOST * first * first
        ? seconds / first
        : (Math.sqrt(first * first + 2 * slope * seconds) - first) / slope;
  }

  /** Puts the next row to leave on the agenda, in place of what is there. */
  private void plan() {
    stamp++;
    if (rows.size() > 0) {
      double steps = Math.max(0, rows.firstLeaves() - step);
      double first = first();
      double seconds = steps * first + slope(first) * steps * steps / 2;
      long from = Math.max(agenda.now(), stalledUntil);
      agenda.at(from + Agenda.micros(seconds * slowness), this::onRowDue, stamp);
    }
  }

  private void onRowDue(long planned) {
    if (planned != stamp) {
      return;
    }
    sync();
    advance(Math.max(0, rows.firstLeaves() - step));
    List<ActiveGroup> ended = List.of();
    while (rows.size() > 0 && rows.firstLeaves() <= step + ALMOST) {
      ActiveGroup group = rows.firstGroup();
      context -= prompt + group.lengths()[rows.firstIndex()];
      rows.removeFirst();
      if (group.endOne()) {
        group.end(versions(group));
        ended = with(ended, group);
      }
    }
    freed();
    admit();
    plan();
    for (int i = 0; i < ended.size(); i++) {
      sampled.accept(ended.get(i));
    }
  }

  private static List<ActiveGroup> with(List<ActiveGroup> groups, ActiveGroup group) {
    if (groups.isEmpty()) {
      return List.of(group); // Hardly ever do two end at once.
    }
    List<ActiveGroup> more = new ArrayList<>(groups);
    more.add(group);
    return more;
  }

  private void freed() {
    if (rows.size() == 0) {
      context = 0;
      marks.subList(0, marks.size() - 1).clear();
      cpu.add(-threads);
    }
  }

  /** The index of the version that samples the first token after a step. */
  private int markAt(double joined) {
    int mark = marks.size() - 1;
    while (mark > 0 && marks.get(mark).step() > joined + ALMOST) {
      mark--;
    }
    return mark;
  }

  /**
   * The versions of the tokens of a group whose last row ends: its other completions ended before,
   * and versions that have come since sampled nothing of them.
   */
  private List<TokenVersions> versions(ActiveGroup group) {
    int[] lengths = group.lengths();
    TokenVersions[] versions = new TokenVersions[lengths.length];
    for (int i = 0; i < lengths.length; i++) {
      versions[i] = spans(group.joined(), lengths[i]);
    }
    return List.of(versions);
  }

  /** The versions of the tokens that were sampled in the steps after {@code joined}. */
  private TokenVersions spans(double joined, int length) {
    int newest = marks.size() - 1;
    int first = markAt(joined);
    if (first == newest) {
      return TokenVersions.uniform(marks.get(newest).version(), length);
    }
    List<TokenVersions.Span> spans = new ArrayList<>(newest - first + 1);
    int begun = 0;
    for (int i = first; i <= newest && begun < length; i++) {
      double until = i == newest ? length : marks.get(i + 1).step() - joined;
      int ended = until >= length ? length : (int) Math.max(0, Math.floor(until + ALMOST));
      if (ended > begun) {
        spans.add(new TokenVersions.Span(marks.get(i).version(), ended - begun));
        begun = ended;
      }
    }
    return new TokenVersions(spans);
  }
}
