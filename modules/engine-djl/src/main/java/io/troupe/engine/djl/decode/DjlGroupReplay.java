package io.troupe.engine.djl.decode;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.GroupReplay;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.ComputeSettings.KvOnSwap;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Decodes one recorded group at a time, in a batch of its own, and loads weights between the tokens
 * where the recorded sampler did. Batch-invariant decoding makes the bits those of the recorded
 * batch.
 */
public final class DjlGroupReplay implements GroupReplay {
  private final Decoder decoder;
  private final DecodeWeights weights;
  private final ComputeSettings compute;
  private final Tokenizer tokenizer;
  private final Runnable onClose;
  private Optional<String> loaded = Optional.empty();

  /**
   * A decoder without weights, for the thread that creates it.
   *
   * @param compute with batch-invariant decoding
   */
  public DjlGroupReplay(
      Decoder decoder, ComputeSettings compute, Tokenizer tokenizer, Runnable onClose) {
    Torch.enter(compute.samplerThreads(), false);
    this.decoder = decoder;
    this.weights = new DecodeWeights(decoder);
    this.compute = compute;
    this.tokenizer = tokenizer;
    this.onClose = onClose;
  }

  @Override
  public List<Replayed> sample(
      SampleRequest request,
      List<Recorded> recorded,
      Function<WeightVersion, WeightSnapshot> source) {
    List<Schedule> schedules = recorded.stream().map(Schedule::of).toList();
    Map<Integer, Replayed> replayed = new HashMap<>();
    // Rows of a group move to new weights together; a shortage of memory can part them.
    while (replayed.size() < schedules.size()) {
      Schedule longest =
          IntStream.range(0, schedules.size())
              .filter(row -> !replayed.containsKey(row))
              .mapToObj(schedules::get)
              .max(Comparator.comparingInt(Schedule::length))
              .orElseThrow();
      Sampled sampled = decode(request, longest, source);
      for (int row = 0; row < schedules.size(); row++) {
        if (schedules.get(row).isPartOf(longest)) {
          replayed.putIfAbsent(row, sampled.row(row, schedules.get(row).length()));
        }
      }
    }
    return IntStream.range(0, schedules.size()).mapToObj(replayed::get).toList();
  }

  /** The events of a completion before each of its tokens. */
  @SuppressWarnings("ArrayRecordComponent") // compared by isPartOf alone
  private record Schedule(long[] versions, List<Integer> preemptedAt) {
    static Schedule of(Recorded recorded) {
      return new Schedule(
          recorded.versions().spans().stream()
              .flatMapToLong(
                  span -> LongStream.generate(() -> span.version().number()).limit(span.tokens()))
              .toArray(),
          recorded.preemptedAt());
    }

    int length() {
      return versions.length;
    }

    WeightVersion version(int token) {
      return new WeightVersion(versions[token]);
    }

    /** Whether a completion that ends earlier decodes beside the other one. */
    boolean isPartOf(Schedule other) {
      return Arrays.equals(versions, Arrays.copyOf(other.versions, versions.length))
          && preemptedAt.equals(
              other.preemptedAt.stream().filter(token -> token < versions.length).toList());
    }
  }

  /** The samples of a batch for each completion. */
  private static final class Sampled {
    private final List<List<Integer>> tokens = new ArrayList<>();
    private final SampleGroup group;

    Sampled(SampleRequest request) {
      for (int row = 0; row < request.completions(); row++) {
        tokens.add(new ArrayList<>());
      }
      group =
          new SampleGroup(request.withListener((row, token, _, _) -> tokens.get(row).add(token)));
    }

    Replayed row(int row, int recorded) {
      return new Replayed(
          tokens.get(row).stream().limit(recorded).mapToInt(Integer::intValue).toArray(),
          group.finished(row).filter(ended -> ended.length() <= recorded));
    }
  }

  private Sampled decode(
      SampleRequest request, Schedule schedule, Function<WeightVersion, WeightSnapshot> source) {
    Sampled sampled = new Sampled(request);
    Deque<SampleGroup> waiting = new ArrayDeque<>(List.of(sampled.group));
    try (DecodeBatch batch = new DecodeBatch(decoder, weights, compute, tokenizer)) {
      load(source.apply(schedule.version(0)), batch);
      batch.prepare();
      batch.admit(waiting, schedule.version(0));
      for (int t = 1; t < schedule.length() && !batch.isIdle(); t++) {
        if (!schedule.version(t).equals(schedule.version(t - 1))) {
          load(source.apply(schedule.version(t)), batch);
        }
        if (schedule.preemptedAt.contains(t)) {
          batch.freeCache();
        }
        batch.prepare();
        batch.step(schedule.version(t));
      }
    }
    return sampled;
  }

  private void load(WeightSnapshot snapshot, DecodeBatch batch) {
    if (!loaded.equals(Optional.of(snapshot.digest()))) {
      weights.load(snapshot);
      loaded = Optional.of(snapshot.digest());
    }
    if (compute.decoding().kvOnSwap() == KvOnSwap.RECOMPUTE) {
      batch.recompute();
    }
  }

  @Override
  public void close() {
    weights.close();
    decoder.close();
    onClose.run();
  }
}
