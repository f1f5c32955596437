package io.troupe.runtime;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.core.run.RunState;
import io.troupe.core.trace.LineBacklog;
import io.troupe.core.trace.LineBacklog.Kind;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.train.TokenMarks;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.store.file.JsonLinesWriter;
import io.troupe.telemetry.view.EventText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The run's trace files: {@code trace.jsonl} (what changed, as differences), {@code samples.jsonl}
 * (each prompt's life), {@code rollouts.jsonl} (each judged group's text), {@code trained.jsonl}
 * (each step's groups and what the loss made of their tokens) and {@code evaluations.jsonl} (each
 * answer of the run's evaluations). Times are seconds since the process started to record.
 */
public final class TraceFiles implements AutoCloseable {
  static final List<String> NAMES =
      List.of("trace", "samples", "rollouts", "trained", "evaluations");

  private static final Duration FLUSH_EVERY = Duration.ofSeconds(1);

  /**
   * The lines that a stalled disk may keep in memory: the texts of some hundred groups at least.
   */
  static final LineBacklog.Limits LIMITS = new LineBacklog.Limits(100_000, 64L << 20);

  /** Shorter than what the end of a run waits for its actors. */
  private static final Duration LAST_LINES = Duration.ofSeconds(5);

  private final Optional<Files> files;
  private final PromptPool pool;
  private final LongSupplier millis;
  private final Consumer<String> report;
  private final Map<GroupId, String> prompts = new HashMap<>();

  /** Live groups that a step has trained on. */
  private final Set<GroupId> used = new HashSet<>();

  /** Differences whose line was refused; the next line has them, too, so that sums stay right. */
  private final Map<String, Long> owed = new LinkedHashMap<>();

  private List<GroupId> training = List.of();
  private long trainingSince;

  private record Files(
      JsonLinesFile trace,
      JsonLinesFile samples,
      JsonLinesFile rollouts,
      JsonLinesFile trained,
      JsonLinesFile evaluations,
      JsonLinesWriter writer) {
    static Files of(Function<String, JsonLinesFile> named, LineBacklog.Limits limits) {
      JsonLinesFile trace = named.apply("trace");
      JsonLinesFile samples = named.apply("samples");
      JsonLinesFile rollouts = named.apply("rollouts");
      JsonLinesFile trained = named.apply("trained");
      JsonLinesFile evaluations = named.apply("evaluations");
      return new Files(
          trace,
          samples,
          rollouts,
          trained,
          evaluations,
          JsonLinesWriter.start(List.of(trace, samples, rollouts, trained, evaluations), limits));
    }
  }

  private TraceFiles(
      Optional<Files> files, PromptPool pool, LongSupplier millis, Consumer<String> report) {
    this.files = files;
    this.pool = pool;
    this.millis = millis;
    this.report = report;
  }

  /** Traces that are not written; files that are there stay. */
  public static TraceFiles off(PromptPool pool) {
    return new TraceFiles(Optional.empty(), pool, () -> 0, _ -> {});
  }

  /**
   * Opens the files as {@link #open(Path, long, PromptPool, LongSupplier, Consumer)} does, without
   * a bound.
   */
  public static TraceFiles open(
      Path folder, PromptPool pool, LongSupplier millis, Consumer<String> report)
      throws IOException {
    return open(folder, 0, pool, millis, report);
  }

  /**
   * Opens the files in a folder that exists.
   *
   * @param keepBytes of each file and the one before it; 0 keeps all
   * @param millis a clock that starts at zero and never goes back
   * @param report takes a sentence when a line cannot be written, once a file
   */
  public static TraceFiles open(
      Path folder, long keepBytes, PromptPool pool, LongSupplier millis, Consumer<String> report)
      throws IOException {
    Map<String, JsonLinesFile> files = new HashMap<>();
    for (String name : NAMES) {
      Duration flushEvery = name.equals("trained") ? Duration.ZERO : FLUSH_EVERY;
      files.put(
          name, JsonLinesFile.open(folder.resolve(name + ".jsonl"), keepBytes, flushEvery, report));
    }
    return over(files, pool, LIMITS, millis, report);
  }

  /** Over open files, by their names without the ending. */
  static TraceFiles over(
      Map<String, JsonLinesFile> files,
      PromptPool pool,
      LineBacklog.Limits limits,
      LongSupplier millis,
      Consumer<String> report) {
    return new TraceFiles(
        Optional.of(Files.of(name -> Objects.requireNonNull(files.get(name)), limits)),
        pool,
        millis,
        report);
  }

  /**
   * Names who hears of each line that is refused while a disk stalls, and of the end of the
   * refusals; any thread may call it, and it must be quick.
   */
  void watch(Consumer<LineBacklog> watcher) {
    files.ifPresent(open -> open.writer.watch(watcher));
  }

  /** Takes what happened, at this version of the weights. */
  public void event(Event event, WeightVersion version) {
    if (files.isPresent()) {
      write(event, version);
    }
  }

  private void write(Event event, WeightVersion version) {
    switch (event) {
      case GroupEvent moved -> write(moved, version);
      case Event.RunResumed(RunState state) -> {
        state.groups().values().forEach(group -> name(group.id(), group.prompt()));
        used.clear();
        state
            .ready()
            .filter(ready -> ready.uses() > 0)
            .forEach(ready -> used.add(ready.summary().lease().group()));
        instant(event);
      }
      case Event.AnswerRefused(LeaseId lease, String reason) -> {
        delta(Map.of("refused", 1));
        life("refused", lease.group(), Map.of("fence", lease.fence(), "reason", reason));
      }
      default -> {
        if (EventText.story(event)) {
          instant(event);
        }
      }
    }
  }

  private void write(GroupEvent event, WeightVersion version) {
    switch (event) {
      case Event.GroupAdmitted(GroupId group, int prompt, long epoch, var _) -> {
        name(group, prompt);
        life("admitted", group, Map.of("epoch", epoch));
      }
      case Event.LeaseGranted(LeaseId lease, var worker, WeightVersion granted, var _) -> {
        delta(Map.of("leased", 1));
        life(
            "in_flight",
            lease.group(),
            Map.of("fence", lease.fence(), "worker", worker.value(), "version", granted.number()));
      }
      case Event.LeaseSampled(LeaseId lease, long _) ->
          life("sampled", lease.group(), Map.of("fence", lease.fence()));
      case GroupEvent.Requeued requeued -> requeued(requeued, version);
      case Event.GroupBuffered(GroupSummary summary) -> {
        delta(Map.of("leased", -1, "buffered", 1));
        life("buffered", summary.lease().group(), numbers(summary));
      }
      case Event.GroupFiltered(GroupSummary summary) -> {
        delta(Map.of("leased", -1, "filtered", 1));
        Map<String, Object> numbers = new LinkedHashMap<>(numbers(summary));
        numbers.put("reason", "zero_variance");
        life("filtered", summary.lease().group(), numbers);
        prompts.remove(summary.lease().group());
      }
      case Event.GroupFailed(GroupId group, String reason) -> {
        delta(Map.of("failed", 1));
        life("failed", group, Map.of("reason", reason));
        prompts.remove(group);
      }
      case Event.StepStarted(long step, List<GroupId> groups) -> {
        training = groups;
        trainingSince = millis.getAsLong();
        delta(Map.of("buffered", -groups.size(), "training", groups.size(), "step", step));
      }
      case Event.StepTrained(long step, List<GroupId> kept) -> {
        if (!kept.isEmpty()) {
          delta(Map.of("training", -kept.size(), "buffered", kept.size()));
        }
        training = training.stream().filter(group -> !kept.contains(group)).toList();
        used.addAll(kept);
        stepEnded(step, "trained", Map.of());
      }
      case Event.GroupSpent(LeaseId lease) -> {
        delta(Map.of("buffered", -1, "trained", 1));
        groupEnded("trained", lease.group(), Map.of());
      }
      case Event.StepSkipped(long step, String reason, boolean _) ->
          stepEnded(step, "skipped", Map.of("reason", reason));
    }
  }

  private void requeued(GroupEvent.Requeued event, WeightVersion version) {
    Map<String, Object> why = new LinkedHashMap<>();
    why.put("reason", event.reason().word());
    why.put("detail", event.detail());
    why.put("trainer_version", version.number());
    String left = "buffered";
    if (event instanceof Event.LeaseEnded lease) {
      why.put("counts", lease.counts());
      left = "leased";
    }
    delta(Map.of(left, -1, event.reason().word(), 1));
    life("pending", event.lease().group(), why);
  }

  /** Takes the texts and verdicts of a group. */
  public void rollout(Recorder.Judged judged) {
    Prompt prompt = judged.prompt();
    List<Verdict> verdicts = judged.verdicts();
    Map<String, Object> line = line();
    line.put("prompt_id", prompt.id().value());
    line.put("group", judged.lease().group().number());
    line.put("fence", judged.lease().fence());
    line.put("source", prompt.source());
    line.put("prompt", prompt.text());
    line.put("answer", prompt.answer());
    line.put("completions", judged.completions());
    line.put("rewards", verdicts.stream().map(TraceFiles::reward).toList());
    line.put("passed", verdicts.stream().map(TraceFiles::passed).toList());
    line.put("verdicts", verdicts.stream().map(TraceFiles::sentence).toList());
    if (!judged.episodes().isEmpty()) {
      line.put("episodes", judged.episodes().stream().map(EpisodeTrace::line).toList());
    }
    write(Files::rollouts, Kind.TEXT, line);
  }

  /** Takes a step's groups; every one is named, so that the last line of a step holds all. */
  public void trained(long step, List<GroupTokenMarks> groups) {
    Map<String, Object> line = line();
    line.put("step", step);
    line.put("groups", groups.stream().map(TraceFiles::marked).toList());
    write(Files::trained, Kind.TEXT, line);
  }

  /** Takes the answers of an evaluation, in the words of {@code troupe eval}. */
  public void evaluated(
      long step, String evaluation, List<HeldOutEvaluation.JudgedAnswer> answers) {
    for (HeldOutEvaluation.JudgedAnswer answer : answers) {
      Map<String, Object> line = line();
      line.put("step", step);
      line.put("evaluation", evaluation);
      line.put("id", answer.id());
      line.put("sample", answer.sample());
      line.put("completion", answer.text());
      line.put("tokens", answer.tokens());
      line.put("finish", answer.truncated() ? "length" : "stop");
      line.put("reward", reward(answer.verdict()));
      line.put("passed", passed(answer.verdict()));
      line.put("outcome", outcome(answer.verdict()));
      line.put("reason", sentence(answer.verdict()));
      write(Files::evaluations, Kind.TEXT, line);
    }
  }

  private static boolean passed(Verdict verdict) {
    return verdict instanceof Verdict.Scored scored && scored.passed();
  }

  private static String outcome(Verdict verdict) {
    return switch (verdict) {
      case Verdict.Scored _ -> "scored";
      case Verdict.Unverifiable(Verdict.Cause cause, String _) ->
          cause.name().toLowerCase(Locale.ROOT);
    };
  }

  private static Map<String, Object> marked(GroupTokenMarks group) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("group", group.lease().group().number());
    map.put("fence", group.lease().fence());
    if (group.hasMarks()) {
      map.put("marks", group.completions().stream().map(TraceFiles::runs).toList());
    }
    return map;
  }

  private static Map<String, Object> runs(TokenMarks marks) {
    Map<String, Object> map = new LinkedHashMap<>();
    put(map, "low", marks.low());
    put(map, "high", marks.high());
    put(map, "cut", marks.cut());
    put(map, "masked", marks.masked());
    return map;
  }

  private static void put(Map<String, Object> map, String name, List<TokenMarks.MarkedRun> runs) {
    if (!runs.isEmpty()) {
      map.put(name, runs.stream().map(run -> List.of(run.from(), run.tokens())).toList());
    }
  }

  /** Null for a completion without a reward, so that the n-th reward is the n-th completion's. */
  private static @Nullable Double reward(Verdict verdict) {
    return verdict instanceof Verdict.Scored scored ? scored.reward() : null;
  }

  private static String sentence(Verdict verdict) {
    return switch (verdict) {
      case Verdict.Scored scored -> scored.reason();
      case Verdict.Unverifiable(var _, String reason) -> "unverifiable: " + reason;
    };
  }

  private void stepEnded(long step, String fate, Map<String, Object> more) {
    Map<String, Object> span = line();
    span.put("ts", trainingSince / 1000.0);
    span.put("type", "span");
    span.put("name", "train");
    span.put("dur", (millis.getAsLong() - trainingSince) / 1000.0);
    span.put("step", step);
    write(Files::trace, Kind.EVENT, span);
    for (boolean before : List.of(true, false)) {
      List<GroupId> groups =
          training.stream().filter(group -> used.contains(group) == before).toList();
      if (before && groups.isEmpty()) {
        continue;
      }
      // A group that an earlier step has trained on ends as trained, whatever becomes of this step.
      String end = before ? "trained" : fate;
      delta(Map.of("training", -groups.size(), end, groups.size()));
      for (GroupId group : groups) {
        Map<String, Object> numbers = new LinkedHashMap<>(more);
        numbers.put("step", step);
        groupEnded(end, group, numbers);
      }
    }
    training = List.of();
  }

  private void groupEnded(String fate, GroupId group, Map<String, Object> numbers) {
    life(fate, group, numbers);
    prompts.remove(group);
    used.remove(group);
  }

  private static Map<String, Object> numbers(GroupSummary summary) {
    return Map.of(
        "fence",
        summary.lease().fence(),
        "reward",
        summary.rewards().stream().mapToDouble(Double::doubleValue).average().orElse(0),
        "oldest",
        summary.oldest().number(),
        "newest",
        summary.newest().number(),
        "tokens",
        summary.tokens());
  }

  private void name(GroupId group, int prompt) {
    prompts.put(group, pool.prompt(prompt).id().value());
  }

  private void life(String what, GroupId group, Map<String, Object> more) {
    Map<String, Object> line = line();
    line.put("event", what);
    line.put("group", group.number());
    line.put("prompt_id", prompts.getOrDefault(group, ""));
    line.putAll(more);
    write(Files::samples, Kind.EVENT, line);
  }

  private void delta(Map<String, Object> changes) {
    changes.forEach((name, change) -> owe(name, ((Number) change).longValue()));
    Map<String, Object> line = line();
    line.put("type", "delta");
    line.putAll(owed);
    if (write(Files::trace, Kind.EVENT, line)) {
      owed.clear();
    }
  }

  /** The step is a number by itself; everything else is a difference. */
  private void owe(String name, long change) {
    owed.merge(name, change, name.equals("step") ? (_, step) -> step : Long::sum);
  }

  private void instant(Event event) {
    Map<String, Object> line = line();
    line.put("type", "instant");
    line.put("name", EventText.name(event));
    line.putAll(EventText.fields(event));
    write(Files::trace, Kind.EVENT, line);
  }

  /** Whether the line is taken, or none is wanted. */
  private boolean write(Function<Files, JsonLinesFile> file, Kind kind, Map<String, Object> line) {
    return files.isEmpty() || files.get().writer.write(file.apply(files.get()), kind, line);
  }

  private Map<String, Object> line() {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("ts", millis.getAsLong() / 1000.0);
    return line;
  }

  @Override
  public void close() {
    int missing = files.map(open -> open.writer.close(LAST_LINES)).orElse(0);
    if (missing > 0) {
      report.accept(
          "%d lines of the traces are not written: the disk has not answered for %d s"
              .formatted(missing, LAST_LINES.toSeconds()));
    }
  }
}
