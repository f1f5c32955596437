package io.troupe.sim.engine;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.EngineModel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** An engine that decodes in virtual time, with continuous batching. */
final class SimulatedEngine implements CpuShares.Shared {
  /*
   * All rows advance together, one token a step, so the engine has one clock of its own: steps. A
   * row that joins at step s with L tokens leaves at s + L. Nothing outside sees the leave of a row
   * that is not its group's last, unless one that waits takes its place. So a second progress runs
   * ahead to the next leave that counts, which alone is on the agenda, and becomes the present one
   * when its time comes. Whatever else happens before brings the present up to itself, and another
   * run ahead starts from there.
   */
  private static final double ALMOST = DecodeProgress.ALMOST;
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
  private final List<ActiveGroup> decoded = new ArrayList<>();
  private final Deque<ActiveGroup> waiting = new ArrayDeque<>();
  private final List<Mark> marks = new ArrayList<>();
  private final DecodeProgress present;
  private final DecodeProgress ahead;

  private double decoding;
  private long stamp;

  /** The step from which on a version samples. */
  private record Mark(double step, WeightVersion version) {}

  /** The parts of an engine. */
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
    DecodeModel decode = parts.model().decode();
    this.present = new DecodeProgress(decode, parts.promptTokens(), rows);
    this.ahead = new DecodeProgress(decode, parts.promptTokens(), rows);
    present.slow(parts.straggling() * parts.cpu().factor());
    this.sampled = sampled;
    cpu.register(this);
  }

  /** Takes new weights from the present token on. */
  void load(WeightVersion version, double seconds) {
    sync();
    marks.add(new Mark(present.step(), version));
    if (rows.size() == 0 || marks.size() >= MOST_MARKS) {
      marks.subList(0, markAt(rows.oldestJoin(present.step()))).clear();
    }
    follow();
    present.stall(seconds);
    plan();
  }

  /** Completions continue as the new weights sample them. */
  private void follow() {
    boolean any = false;
    for (ActiveGroup group : decoded) {
      if (group.followsWeights()) {
        group.sample(spans(group.joined(), maxTokens));
        any = true;
      }
    }
    if (any) {
      rows.reorder();
    }
  }

  void sample(List<ActiveGroup> groups) {
    sync();
    waiting.addAll(groups);
    admit();
    plan();
  }

  /** Ends what is sampled of a lease; returns whether there was anything. */
  boolean cancel(LeaseId lease) {
    sync();
    boolean queued = waiting.removeIf(group -> group.lease().equals(lease));
    List<ActiveGroup> ended =
        decoded.stream().filter(group -> group.lease().equals(lease)).toList();
    decoded.removeAll(ended);
    ended.forEach(group -> present.cancel(group, rows.remove(group)));
    if (!ended.isEmpty()) {
      freed();
      admit();
    }
    plan();
    return queued || !ended.isEmpty();
  }

  /** Ends everything, as the death of its process does. */
  void clear() {
    sync();
    waiting.clear();
    boolean busy = rows.size() > 0;
    rows.truncate(0);
    decoded.clear();
    present.clear();
    if (busy) {
      cpu.add(-threads);
    }
    stamp++;
  }

  /** Makes each step take longer, for a slow minute or from a fault. */
  void degrade(double factor) {
    sync();
    decoding = straggling * factor;
    present.slow(decoding * cpu.factor());
    plan();
  }

  @Override
  public void slow(double factor) {
    sync();
    present.slow(decoding * factor);
    plan();
  }

  /** Microseconds with anything to decode. */
  long busyMicros() {
    sync();
    return present.busyMicros();
  }

  /** Seconds times rows, of which a full batch has the most. */
  double rowSeconds() {
    return present.rowSeconds();
  }

  /** Tokens of context, prompts included, that all rows hold. */
  double context() {
    sync();
    plan();
    return present.context();
  }

  double tokens() {
    return present.tokens();
  }

  /** Takes groups from the queue; those that join together are read in one call. */
  private void admit() {
    double prefill = model.prefillSeconds();
    while (!waiting.isEmpty()
        && (rows.size() == 0 || rows.size() + waiting.getFirst().completions() <= maxRows)) {
      ActiveGroup group = waiting.removeFirst();
      if (rows.size() == 0) {
        cpu.add(threads);
      }
      present.stall(prefill + model.prefillSecondsPerToken() * prompt);
      prefill = 0;
      group.join(present.step());
      group.sample(spans(present.step(), maxTokens));
      rows.add(group);
      decoded.add(group);
      present.join(group.completions());
    }
  }

  /** Brings the present up to now. */
  private void sync() {
    present.advance(agenda.now(), turn());
    removeLeft();
  }

  /** The step at which a group ends, or one that waits may join. */
  private double turn() {
    double turn = Double.MAX_VALUE;
    for (int i = 0; i < decoded.size(); i++) {
      turn = Math.min(turn, decoded.get(i).leaves());
    }
    if (!waiting.isEmpty()) {
      int most = maxRows - waiting.getFirst().completions();
      if (most >= 0 && most < rows.size()) {
        turn = Math.min(turn, rows.leaves(most));
      }
    }
    return turn;
  }

  /** Puts the next leave that counts on the agenda, in place of what is there. */
  private void plan() {
    stamp++;
    if (rows.size() > 0) {
      ahead.set(present);
      agenda.at(ahead.advanceThrough(turn()), this::onTurn, stamp);
    }
  }

  private void onTurn(long planned) {
    if (planned != stamp) {
      return;
    }
    present.set(ahead);
    List<ActiveGroup> ended = removeLeft();
    freed();
    admit();
    plan();
    for (int i = 0; i < ended.size(); i++) {
      sampled.accept(ended.get(i));
    }
  }

  /** Removes the rows that have left, and returns the groups that have ended with them. */
  private List<ActiveGroup> removeLeft() {
    List<ActiveGroup> ended = List.of();
    for (int row = rows.size() - 1; row >= present.left(); row--) {
      ActiveGroup group = rows.group(row);
      if (group.endOne()) {
        group.end(versions(group));
        decoded.remove(group);
        ended = with(ended, group);
      }
    }
    rows.truncate(present.left());
    return ended;
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
